#include "layout/buffers.hpp"

#include <algorithm>
#include <numeric>

#include "layout/buffer_list.hpp"

namespace shardscope {

std::vector<BufferSpec> engine_buffers(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const Routes& routes,
                                       const Schedule& schedule, std::int32_t rank,
                                       const BatchCounts& capacity) {
  return BufferList(workload, topology, layout, routes, schedule, rank, capacity).build();
}

std::vector<BufferSpec> engine_buffers(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const Schedule& schedule,
                                       std::int32_t rank, const BatchCounts& capacity) {
  return engine_buffers(workload, topology, layout, routes_of(workload, topology, layout), schedule,
                        rank, capacity);
}

std::int64_t arena_bytes(const std::vector<BufferSpec>& buffers) {
  std::int64_t bytes = 0;
  for (const BufferSpec& buffer : buffers) {
    bytes = saturating_add(bytes, aligned_bytes(buffer.bytes));
  }
  return bytes;
}

bool prefetches(const Schedule& schedule, Work work) {
  return std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const ScheduleStep& step) {
    return step.next_batch && step.work == work && step.stage == Stage::input_dist;
  });
}

std::int64_t ids_of_rank(const BatchCounts& counts, std::size_t feature, std::int32_t rank,
                         std::int32_t ranks) {
  const std::vector<std::int64_t>& ids = counts.ids[feature];
  const auto row_shards = static_cast<std::int64_t>(ids.size()) / ranks;
  const auto first = ids.begin() + rank * row_shards;
  return std::accumulate(first, first + row_shards, std::int64_t{0}, saturating_add);
}

std::int64_t output_rows(const Workload& workload, std::size_t feature, std::int32_t rank,
                         const BatchCounts& counts, std::int32_t ranks) {
  return is_pooled(workload.features[feature].pooling)
             ? bags_of_rank(workload, feature, rank, ranks)
             : ids_of_rank(counts, feature, rank, ranks);
}

}  // namespace shardscope
