#pragma once
// Measures one layout: untraced blocks give the throughput, one block in eight is traced and gives
// the stage times, and the two together the cost of tracing.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/run_recorder.hpp"
#include "profiler/signed_rank.hpp"

namespace shardscope::engine {

struct ProfileConfig {
  std::int64_t iterations = 0;  ///< to measure; 0: as many as the budget allows
  double budget_s = 10;         ///< measuring time where iterations is 0
  std::uint64_t seed = 1;       ///< position of the traced block in each group of eight
};

struct ProfileProgress {
  double share = 0;  ///< 0..1
  double iteration_ms = 0;
  std::int64_t iterations = 0;
};

/// Figures of a run. Times are means over untraced measured iterations unless they say otherwise.
struct ProfileOutcome {
  double iteration_ms = 0;
  double fastest_block_ms = 0;  ///< mean iteration of the fastest and the slowest untraced block
  double slowest_block_ms = 0;
  double samples_per_s = 0;
  double critical_path_ms = 0;
  double loss = 0;
  StageProfile stages;                       ///< of the traced blocks
  std::vector<CodecTotals> codecs;           ///< likewise; empty where nothing was coded
  std::optional<Interval> tracing_overhead;  ///< traced / untraced - 1; empty: too few groups
  std::int64_t iterations = 0;               ///< untraced and measured
  std::int64_t traced_iterations = 0;
  std::int64_t warm_up_iterations = 0;
  std::int64_t dropped_spans = 0;
  bool interrupted = false;
};

/// Returns false to stop after the present block; what was measured is kept.
using ProfileObserver = std::function<bool(const ProfileProgress&)>;

/// Runs blocks until the count or the budget is reached. An error of the engine ends it, unless the
/// observer wants to stop as well (it aborted the engine) and something was measured.
[[nodiscard]] Result<ProfileOutcome> profile_run(Engine& engine, RunRecorder& recorder,
                                                 const ProfileConfig& config,
                                                 const ProfileObserver& keep_going);

}  // namespace shardscope::engine
