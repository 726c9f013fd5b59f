#pragma once
// Training steps that a trace marks.

#include <cstdint>
#include <vector>

#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// One ProfilerStep#N of a rank, on the trace's clock.
struct TraceStep {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t number = 0;
};

/// By start.
[[nodiscard]] std::vector<TraceStep> trace_steps(const RankTrace& trace);

}  // namespace shardscope::storage
