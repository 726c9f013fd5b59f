#pragma once
// Runs two layouts in interleaved blocks and asks profiler/comparison which is faster.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/run_recorder.hpp"
#include "profiler/comparison.hpp"

namespace shardscope::engine {

/// One of the two layouts. Swapped sides share an engine, and `layout` is applied to it before each
/// of the side's blocks. Resident sides begin on an engine each and trade engines from time to
/// time: where an engine's memory happens to lie can make it a percent faster than its equal, and
/// that would count as the layout's.
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
  double trade_s = 0;           ///< about what a trade of engines takes; 0: unknown, never trade
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
  std::int64_t trades = 0;  ///< of engines between resident sides
  double swap_s = 0;        ///< applying layouts, excluded from every time
  double pair_s = 0;        ///< about what a pair of blocks takes

  /// Throughput of B / A by the sides' own times. The blocks of a pair ran next to each other and
  /// `ratio` pairs them; these mix all blocks and may contradict it where the machine's speed
  /// changes.
  [[nodiscard]] double medians_ratio() const {
    return b.iteration_ms > 0 ? a.iteration_ms / b.iteration_ms : 0;
  }
};

/// Warms both engines up itself. Ends within the budget (what applying layouts takes included; what
/// the observer takes not) but for the block in progress, which takes half a second or, where one
/// iteration is longer, two iterations.
[[nodiscard]] Result<ComparisonOutcome> comparison_run(ComparisonSide a, ComparisonSide b,
                                                       const ComparisonConfig& config,
                                                       const ComparisonObserver& keep_going);

}  // namespace shardscope::engine
