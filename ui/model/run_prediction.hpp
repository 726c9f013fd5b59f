#pragma once
// What the planner's model says of a run that is over: the same model, machine, layout, batch and
// wires, so that prediction and measurement can stand side by side.

#include <array>
#include <optional>
#include <vector>

#include "layout/result.hpp"
#include "layout/schedule.hpp"
#include "profiler/stage_times.hpp"
#include "storage/queries/runs.hpp"
#include "storage/session.hpp"

namespace shardscope::ui {

struct RunPrediction {
  std::vector<Span> spans;  ///< of the simulated iteration, from 0
  double iteration_ms = 0;
  std::array<double, kStages> stage_ms{};  ///< slowest rank, waiting left out
};

/// Errors: the session lacks a document of the run, or its layout cannot be priced. `stages`: what
/// was measured; a run without dense stages is priced without the dense part.
[[nodiscard]] Result<RunPrediction> predict_run(const storage::Session& session,
                                                const storage::RunRecord& run,
                                                const std::vector<StageRow>& stages);

/// predicted / measured - 1; nothing where one of them is unknown.
[[nodiscard]] std::optional<double> prediction_error(double predicted, double measured);
/// Beyond this share an error is amber.
inline constexpr double kLargeError = 0.10;

}  // namespace shardscope::ui
