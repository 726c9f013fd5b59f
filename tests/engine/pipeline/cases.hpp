#pragma once
// Random workloads with layouts, and the batches and gradients they are run on.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/engine.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "reference.hpp"

namespace shardscope::engine {

/// One run to be compared with the reference.
struct PipelineCase {
  std::uint64_t seed = 0;
  Workload workload;
  Topology topology;
  Layout layout;
  ScheduleKind schedule = ScheduleKind::serial;
  bool exact = true;  ///< dyadic tables and gradients: equal bit for bit
  bool deferred = false;
  CommKind comm = CommKind::threads;
  std::int32_t iterations = 2;
  double loss_scale = 1;
  std::shared_ptr<Device> device;  ///< null: the cpu device
};

/// The n-th case of a seed. Kinds that the coverage table counts take turns, the rest is random.
[[nodiscard]] PipelineCase make_case(std::uint64_t seed, std::int64_t n);

/// Another valid layout of the case's tables: other clusters (where the poolings allow), cuts and
/// owners.
[[nodiscard]] Layout other_layout(const PipelineCase& value, std::uint64_t salt);

/// Everything needed to repeat the case, as JSON text.
[[nodiscard]] std::string to_json(const PipelineCase& value);

/// Batches of a case: depend on (seed, iteration, sample) alone. Lengths of exact means are powers
/// of two; weights are dyadic.
[[nodiscard]] std::shared_ptr<const BatchSource> source_of(const PipelineCase& value);

/// Gradient of sample `sample` of the global batch, by feature.
[[nodiscard]] Gradients gradients_of(const PipelineCase& value, std::int64_t iteration,
                                     std::int64_t first_sample, const RankBatch& batch);

}  // namespace shardscope::engine
