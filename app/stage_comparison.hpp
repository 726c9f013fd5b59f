#pragma once
// Measured stages beside the predicted ones.

#include <string>
#include <vector>

#include "planner/cost_model.hpp"
#include "profiler/stage_profile.hpp"

namespace shardscope::app {

/// Milliseconds an iteration of one stage, or of the two that a fused kernel does at once.
struct StageComparison {
  std::string stage;
  double measured_max = 0;  ///< slowest rank, waiting for peers excluded
  double measured_mean = 0;
  double waiting_mean = 0;
  double inter_bytes = 0;     ///< all ranks
  double predicted_max = 0;   ///< slowest rank; NaN without a prediction
  double predicted_mean = 0;  ///< NaN without a prediction

  /// predicted / measured - 1 of the slowest ranks; NaN where either is missing.
  [[nodiscard]] double error() const;
};

/// Stages that were measured or predicted. `prediction` may be null. `fused_update`: the kernels of
/// local_reduce update in one (FBGEMM): they stand beside the sum of both stages, and what is left
/// of update beside the dense part's alone.
[[nodiscard]] std::vector<StageComparison> compare_stages(const StageProfile& measured,
                                                          const Prediction* prediction,
                                                          bool fused_update);

/// "+12 %", "-" where there is no error to tell.
[[nodiscard]] std::string error_text(double error);

}  // namespace shardscope::app
