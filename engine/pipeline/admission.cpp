#include "engine/pipeline/admission.hpp"

#include <string>

#include <fmt/format.h>

#include "engine/cpu/memory.hpp"
#include "layout/memory.hpp"

namespace shardscope::engine {

Status admit(const EngineConfig& config, const Layout& layout) {
  if (layout.ranks != config.topology.ranks()) {
    return fail({ErrorKind::usage,
                 fmt::format("layout {} was made for {} ranks", layout.name, layout.ranks),
                 fmt::format("topology {}", config.topology.name),
                 fmt::format("{} ranks", config.topology.ranks()),
                 "Choose a layout for this topology"});
  }
  std::int64_t ids = 0;
  for (const Feature& feature : config.workload.features) {
    const double bag = feature.num_poolings * feature.hotness.mean();
    const double all = bag * static_cast<double>(config.workload.global_batch);
    ids = saturating_add(ids, all < 9e18 ? static_cast<std::int64_t>(all)
                                         : std::numeric_limits<std::int64_t>::max());
  }
  const std::int64_t bytes = saturating_multiply(
      saturating_multiply(ids, bytes_of(config.workload.key)), std::max(config.batches, 1));
  const std::int64_t available = available_memory_bytes();
  if (bytes <= available) return {};
  return fail({ErrorKind::infeasible,
               fmt::format("the ids of {} batches need {} bytes, {} are available", config.batches,
                           bytes, available),
               fmt::format("workload {}", config.workload.name), "",
               "Lower the batch, the features' hotness or the number of batches"});
}

Status admit_memory(const RunPlan& plan) {
  const auto gpu = static_cast<std::int64_t>(plan.topology.gpu.memory_bytes.value);
  std::int64_t all = 0;
  for (std::int32_t rank = 0; rank < plan.ranks(); ++rank) {
    const std::int64_t bytes =
        arena_bytes(engine_buffers(plan.workload, plan.topology, plan.layout, plan.routes,
                                   plan.schedule, rank, plan.capacity));
    all = saturating_add(all, bytes);
    if (gpu <= 0 || saturating_add(bytes, plan.topology.reserve_bytes) <= gpu) continue;
    return fail({ErrorKind::infeasible,
                 fmt::format("buffers need {} bytes, {} are available", bytes,
                             gpu - plan.topology.reserve_bytes),
                 fmt::format("rank {}", rank), "",
                 "Move tables to other ranks, cut them or lower the batch"});
  }
  const std::int64_t available = available_memory_bytes();
  if (all <= available) return {};
  return fail({ErrorKind::infeasible,
               fmt::format("the ranks' buffers need {} bytes, {} are available on this machine",
                           all, available),
               fmt::format("topology {}", plan.topology.name), "",
               "Cap the rows, lower the batch or run fewer ranks"});
}

}  // namespace shardscope::engine
