// Memory of the engine: the buffers its arena is carved into.

#include "layout/buffers.hpp"
#include "layout/bytes.hpp"
#include "layout/dense_sizes.hpp"
#include "layout/memory_parts.hpp"

namespace shardscope {

namespace {

std::int64_t& field_of(MemoryUse& use, BufferPurpose purpose) {
  switch (purpose) {
    case BufferPurpose::weights:
      return use.weights;
    case BufferPurpose::optimizer_state:
      return use.optimizer_state;
    case BufferPurpose::transients:
      return use.transients;
    case BufferPurpose::communication:
      return use.communication;
    case BufferPurpose::indices:
      return use.indices;
    case BufferPurpose::sort:
      return use.sort;
    case BufferPurpose::wgrad:
      return use.wgrad;
    case BufferPurpose::dense:
      return use.dense;
  }
  return use.communication;
}

constexpr std::int64_t kMostCounts = std::int64_t{1} << 26;

/// The dense part alone, for worlds too large to list every buffer.
void add_dense_only(const Workload& workload, const Topology& topology, MemoryAccount& account) {
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    const std::int64_t samples = samples_of_rank(workload.global_batch, rank, topology.ranks());
    account.gpus[static_cast<std::size_t>(rank)].dense = dense_sizes(workload, samples).total();
  }
}

}  // namespace

bool memory_is_complete(const Workload& workload, const Layout& layout, Executor executor) {
  if (executor != Executor::engine) return true;
  std::int64_t counts = 0;
  for (const Feature& feature : workload.features) {
    const TablePlacement& placement = layout.tables[static_cast<std::size_t>(feature.table)];
    const std::int64_t shards = placement.cluster == ClusterType::DP ? 1 : placement.row_shards;
    counts = saturating_add(counts, saturating_multiply(layout.ranks, shards));
  }
  return counts <= kMostCounts;
}

void add_engine_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                        MemoryAccount& account) {
  // Tables are filled in place: nothing is loaded through a copy on the host.
  for (MemoryUse& host : account.hosts) host.transients = 0;
  if (!memory_is_complete(workload, layout, Executor::engine)) {
    return add_dense_only(workload, topology, account);
  }
  const BatchCounts counts = expected_counts(workload, layout);
  const Routes routes = routes_of(workload, topology, layout);
  // The schedule is chosen later; inter holds the most, two batches in flight.
  const Schedule schedule = make_schedule(ScheduleKind::inter, presence_of(workload, layout));
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    MemoryUse& use = account.gpus[static_cast<std::size_t>(rank)];
    for (const BufferSpec& buffer :
         engine_buffers(workload, topology, layout, routes, schedule, rank, counts)) {
      // Weights and state are counted by tier with the tables; here they gain their padding.
      const bool counted = buffer.purpose == BufferPurpose::weights ||
                           buffer.purpose == BufferPurpose::optimizer_state;
      const std::int64_t bytes = aligned_bytes(buffer.bytes) - (counted ? buffer.bytes : 0);
      raise_by(field_of(use, buffer.purpose), bytes);
    }
  }
}

}  // namespace shardscope
