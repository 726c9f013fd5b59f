#pragma once
// Where an iteration's time goes on each rank, and the difference of two such profiles in words.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/schedule.hpp"
#include "profiler/signed_rank.hpp"
#include "profiler/stage_times.hpp"

namespace shardscope {

/// One rank in one stage; means over the traced iterations.
struct StageCost {
  double ms = 0;          ///< wall clock, waiting for peers excluded
  double busy_ms = 0;     ///< thread CPU time
  double waiting_ms = 0;  ///< before the last peer arrived
  double intra_bytes = 0;
  double inter_bytes = 0;
  double rows = 0;

  friend bool operator==(const StageCost&, const StageCost&) = default;
};

/// Mean iteration of a run by rank and stage.
struct StageProfile {
  std::int64_t iterations = 0;  ///< traced ones
  std::vector<std::array<StageCost, kStages>> by_rank;

  [[nodiscard]] const StageCost& at(std::size_t rank, Stage stage) const {
    return by_rank[rank][static_cast<std::size_t>(stage)];
  }
  /// Rank with the most time in the stage; 0 where there are no ranks.
  [[nodiscard]] std::size_t slowest_rank(Stage stage) const;
  [[nodiscard]] double ms_max(Stage stage) const;
  [[nodiscard]] double ms_mean(Stage stage) const;
  [[nodiscard]] double busy_ms_max(Stage stage) const;
};

/// Means over `iterations` of the sums, for ranks 0 .. ranks - 1, all works of a stage together.
[[nodiscard]] StageProfile stage_profile(std::span<const StageTotals> totals,
                                         std::int64_t iterations, std::int32_t ranks);

/// One side of a comparison as the sentence needs it.
struct ComparedSide {
  std::string name;  ///< of the layout
  StageProfile profile;
};

/// One sentence: which is faster by how much, and the stage and rank that make most of it, with the
/// bytes or rows that explain it. Says so where the interval includes 1.
[[nodiscard]] std::string explain(const Interval& ratio, const ComparedSide& a,
                                  const ComparedSide& b);

}  // namespace shardscope
