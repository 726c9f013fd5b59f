#pragma once
// Runs two layouts in interleaved blocks and asks profiler/comparison which is faster.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/run_recorder.hpp"
#include "profiler/comparison.hpp"

namespace shardscope::engine {

/// One of the two layouts. Resident sides have an engine each; swapped sides share one, and
/// `layout` is applied to it before each of the side's blocks.
struct ComparisonSide {
  Engine* engine = nullptr;
  RunRecorder* recorder = nullptr;
  const Layout* layout = nullptr;
};

struct ComparisonConfig {
  StopRule rule;
  double budget_s = 60;
  std::int64_t iterations = 0;  ///< of each side, untraced; 0: no limit
  std::uint64_t seed = 1;       ///< order within pairs, which pairs are traced
};

struct ComparisonProgress {
  double share = 0;  ///< of the budget, or of the way to the target; 0..1
  std::int64_t pairs = 0;
  std::optional<Interval> running;  ///< valid at every moment
};

/// Returns false to stop after the present block.
using ComparisonObserver = std::function<bool(const ComparisonProgress&)>;

/// Figures of one side; times from untraced pairs.
struct SideOutcome {
  double iteration_ms = 0;  ///< median of block means
  double samples_per_s = 0;
  double critical_path_ms = 0;
  StageProfile stages;  ///< of the traced pairs
  std::int64_t iterations = 0;
};

struct ComparisonOutcome {
  std::optional<RatioResult> ratio;  ///< throughput of B / A; empty: too few pairs
  SideOutcome a;
  SideOutcome b;
  std::int32_t block_iterations = 0;
  std::int64_t traced_pairs = 0;
  std::int64_t dropped_iterations = 0;  ///< settling after switches, both sides
  bool resident = false;
  double swap_s = 0;  ///< applying layouts, excluded from every time; 0 where resident
};

/// Engines must be warm-up free: the run warms both up itself.
[[nodiscard]] Result<ComparisonOutcome> comparison_run(ComparisonSide a, ComparisonSide b,
                                                       const ComparisonConfig& config,
                                                       const ComparisonObserver& keep_going);

}  // namespace shardscope::engine
