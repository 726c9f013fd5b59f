#pragma once
// Two layouts run in turns.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "engine/comparison_run.hpp"

namespace shardscope::app {

struct CompareJob {
  const RunOptions& run;
  double target = 0;  ///< half width as a share; 0: the default, 1 %
  const Inputs& inputs;
  const Layout& a;
  const Layout& b;
};

struct Compared {
  engine::ComparisonOutcome outcome;  ///< with a ratio
  Mode mode = Mode::measured;
  std::string sentence;  ///< which is faster and why
  std::int64_t run_a = 0;
  std::int64_t run_b = 0;
};

/// Makes the engines, runs both layouts, stores the comparison. Too few pairs for an interval are
/// an error; what was recorded stays.
[[nodiscard]] Result<Compared> run_comparison(const CompareJob& job, JobOutput& output,
                                              JobWatch& watch);

/// Why the sides' times contradict the ratio; empty where they lie in its interval. On a machine
/// whose speed changes, medians of all of A's and all of B's blocks may tell another story than
/// pairs of blocks that ran next to each other.
[[nodiscard]] std::string medians_apart_text(const engine::ComparisonOutcome& outcome);

/// The figures of `compare --json`, without the session.
[[nodiscard]] nlohmann::ordered_json comparison_json(const CompareJob& job, const Compared& done);

}  // namespace shardscope::app
