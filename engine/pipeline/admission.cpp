#include "engine/pipeline/admission.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/cpu/memory.hpp"
#include "engine/device.hpp"
#include "layout/check.hpp"
#include "layout/codec_bytes.hpp"
#include "layout/memory.hpp"

namespace shardscope::engine {

namespace {

/// The first error with the number of the others; memory is infeasible, anything else wrong input.
Status admit_layout(const EngineConfig& config, const Layout& layout) {
  const std::vector<Violation> violations =
      check(config.workload, config.topology, layout, Executor::engine);
  const Violation* first = nullptr;
  std::int64_t errors = 0;
  for (const Violation& violation : violations) {
    if (violation.severity != Severity::error) continue;
    if (first == nullptr) first = &violation;
    ++errors;
  }
  if (first == nullptr) return {};
  std::string what = first->message;
  if (errors > 1) what += fmt::format(" (and {} more errors)", errors - 1);
  const bool memory = first->rule.starts_with("memory.");
  return fail({memory ? ErrorKind::infeasible : ErrorKind::usage, std::move(what),
               fmt::format("layout {}, rule {}", layout.name, first->rule), "", first->cure});
}

/// Ids of all batches that are generated ahead.
Status admit_batches(const EngineConfig& config) {
  std::int64_t ids = 0;
  for (const Feature& feature : config.workload.features) {
    const double all = feature.num_poolings * feature.hotness.mean() *
                       static_cast<double>(config.workload.global_batch);
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

bool is_power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

/// Codecs work on the host's memory.
Status admit_codecs(const EngineConfig& config, const Layout& layout) {
  if (config.device == nullptr) return {};
  for (const ClusterType cluster : {ClusterType::RB, ClusterType::UB}) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      if (!is_coded(config.topology, layout, cluster, direction)) continue;
      return fail({ErrorKind::usage, "this device runs no codecs",
                   fmt::format("layout {}", layout.name), "codec raw in every slot",
                   "Set the layout's codecs to raw, or run on the cpu device"});
    }
  }
  return {};
}

Status admit_comm(const EngineConfig& config) {
  if (config.device == nullptr && config.comm == CommKind::nccl) {
    return fail({ErrorKind::usage, "NCCL connects GPUs, not CPU ranks", "--comm nccl",
                 "threads or loopback on the cpu device", ""});
  }
  if (config.device != nullptr && config.comm == CommKind::threads) {
    return fail({ErrorKind::usage, "threads connects CPU ranks, not GPUs", "--comm threads",
                 "loopback (all ranks on one GPU) or nccl (a GPU a rank)", ""});
  }
  return {};
}

/// Bytes the ranks' buffers may take, of the device's memory or the machine's.
Result<std::int64_t> memory_for_ranks(const RunPlan& plan) {
  if (plan.device != nullptr) return plan.device->available_bytes();
  return available_memory_bytes();
}

}  // namespace

Status admit(const EngineConfig& config, const Layout& layout) {
  if (Status status = admit_layout(config, layout); !status) return status;
  if (Status status = admit_comm(config); !status) return status;
  if (Status status = admit_codecs(config, layout); !status) return status;
  if (!is_power_of_two(config.loss_scale)) {
    return fail({ErrorKind::usage, fmt::format("the loss scale is {}", config.loss_scale), "",
                 "a power of two", "Choose a power of two, for example 1024"});
  }
  return admit_batches(config);
}

Status admit_memory(const RunPlan& plan, std::int64_t reclaimed) {
  const auto gpu = static_cast<std::int64_t>(plan.topology.gpu.memory_bytes.value);
  std::int64_t all = 0;
  std::int64_t all_scratch = 0;
  for (std::int32_t rank = 0; rank < plan.ranks(); ++rank) {
    const std::vector<BufferSpec> buffers = engine_buffers(
        plan.workload, plan.topology, plan.layout, plan.routes, plan.schedule, rank, plan.capacity);
    const std::int64_t bytes = arena_bytes(buffers);
    const std::int64_t scratch =
        plan.device == nullptr ? 0 : plan.device->scratch_bytes(plan.workload, buffers);
    all = saturating_add(all, saturating_add(bytes, scratch));
    all_scratch = saturating_add(all_scratch, scratch);
    // The reserve is there for what stands beside the buffers.
    const std::int64_t beside = std::max(scratch, plan.topology.reserve_bytes);
    if (gpu <= 0 || saturating_add(bytes, beside) <= gpu) continue;
    return fail({ErrorKind::infeasible,
                 fmt::format("buffers need {} bytes, {} are available", bytes, gpu - beside),
                 fmt::format("rank {}", rank), "",
                 "Move tables to other ranks, cut them or lower the batch"});
  }
  const Result<std::int64_t> free_bytes = memory_for_ranks(plan);
  if (!free_bytes) return fail(free_bytes.error());
  const std::int64_t available = saturating_add(*free_bytes, reclaimed);
  if (all <= available) return {};
  const std::string temporary =
      all_scratch == 0 ? "" : fmt::format(" ({} of them temporary)", all_scratch);
  return fail(
      {ErrorKind::infeasible,
       fmt::format("the ranks' buffers need {} bytes{}, {} are available on {}", all, temporary,
                   available, plan.device != nullptr ? "its GPUs" : "this machine"),
       fmt::format("topology {}", plan.topology.name), "",
       "Cap the rows, lower the batch or run fewer ranks"});
}

}  // namespace shardscope::engine
