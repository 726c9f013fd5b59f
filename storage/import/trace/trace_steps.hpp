#pragma once
// Training steps that a trace marks.

#include <cstdint>
#include <vector>

#include "storage/import/trace/kernel_map.hpp"
#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// One training step of a rank, on the trace's clock.
struct TraceStep {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t number = 0;
};

/// By start, none inside another: ProfilerStep#N, else the ranges that `map` calls steps. Those are
/// numbered by the last number in their names, or from 0 where names repeat.
[[nodiscard]] std::vector<TraceStep> trace_steps(const RankTrace& trace, const KernelMap& map);

}  // namespace shardscope::storage
