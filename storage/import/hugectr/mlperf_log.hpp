#pragma once
// HugeCTR training logs of MLPerf submissions: MLLOG events, iteration times, the planner's lines.

#include <string_view>

#include "layout/result.hpp"
#include "storage/import/hugectr/hugectr_plan.hpp"

namespace shardscope::storage {

/// The plan (its matrix, where the log prints one) with what was measured: iter_ms (median over the
/// "Time(N iters)" lines), throughput, batch, system. An error where neither is found.
[[nodiscard]] Result<HugectrPlan> read_mlperf_log(std::string_view text, ImportNotes& notes);

}  // namespace shardscope::storage
