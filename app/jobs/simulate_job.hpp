#pragma once
// One layout simulated and recorded like a measured run.

#include <cstdint>

#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "planner/cost_model.hpp"

namespace shardscope::app {

struct Simulated {
  Prediction prediction;
  std::int64_t run = 0;
};

/// Predicts a layout that is valid for the executor, and records the steady iteration's spans as a
/// run of mode simulated. `options`: the seed.
[[nodiscard]] Result<Simulated> run_simulation(const RunOptions& options, const PredictOptions& how,
                                               const Inputs& inputs, const Layout& layout,
                                               JobOutput& output);

}  // namespace shardscope::app
