#pragma once
// One layout measured on its engine.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "engine/engine.hpp"
#include "engine/profile_run.hpp"

namespace shardscope::app {

class GpuTrace;

struct Profiled {
  engine::ProfileOutcome outcome;
  Mode mode = Mode::measured;
  std::vector<std::int64_t> memory_bytes;  ///< peak by rank
  std::int64_t run = 0;                    ///< as the records' sink numbered it
  engine::GraphCounts graphs;              ///< of --graphs
  bool gpu_traced = false;                 ///< its times are no measure
};

/// Measures the layout the engine has now, as a run of its own that is closed whatever happens.
/// With a trace the run has the GPU's activity and no figures.
[[nodiscard]] Result<Profiled> run_profile(engine::Engine& engine, const RunOptions& options,
                                           const Inputs& inputs, const Layout& layout,
                                           JobOutput& output, JobWatch& watch,
                                           GpuTrace* trace = nullptr);

/// The figures of `profile --json`, without the session.
[[nodiscard]] nlohmann::ordered_json profile_json(const Inputs& inputs, const Layout& layout,
                                                  const Profiled& done);

}  // namespace shardscope::app
