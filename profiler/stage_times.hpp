#pragma once
// Sums of spans by rank, stage and work, and the tables people read. Pure functions.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "layout/schedule.hpp"
#include "profiler/span.hpp"

namespace shardscope {

/// Sums over the spans of one rank, stage and work.
struct StageTotals {
  std::int32_t rank = 0;
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  std::int64_t spans = 0;
  std::int64_t total_ns = 0;    ///< durations, waiting spans excluded
  std::int64_t busy_ns = 0;     ///< thread CPU time
  std::int64_t waiting_ns = 0;  ///< durations of waiting spans
  std::int64_t intra_bytes = 0;
  std::int64_t inter_bytes = 0;
  std::int64_t rows = 0;

  friend bool operator==(const StageTotals&, const StageTotals&) = default;
};

/// Adds spans up, except those of iterations that do not count (warm-up).
class StageSum {
 public:
  explicit StageSum(std::vector<std::int32_t> excluded_iterations = {});
  void add(const Span& span);
  /// Ordered by rank, stage, work.
  [[nodiscard]] std::vector<StageTotals> totals() const;
  /// Different iterations among the spans that count.
  [[nodiscard]] std::int64_t iterations() const {
    return static_cast<std::int64_t>(iterations_.size());
  }

 private:
  std::vector<std::int32_t> excluded_;  ///< ascending
  std::map<std::tuple<std::int32_t, Stage, Work>, StageTotals> sums_;
  std::set<std::int32_t> iterations_;
};

/// A row of the stage table: per iteration, over all works of the stage.
struct StageRow {
  Stage stage = Stage::input_dist;
  double ms_max = 0;   ///< slowest rank
  double ms_mean = 0;  ///< mean over ranks
  double busy_ms_max = 0;
  double busy_ms_mean = 0;
  double waiting_ms_mean = 0;
  double intra_bytes = 0;  ///< all ranks together
  double inter_bytes = 0;
  double rows = 0;
  std::int32_t slowest_rank = 0;

  friend bool operator==(const StageRow&, const StageRow&) = default;
};

/// Milliseconds of one rank per iteration, indexed by Stage.
struct RankStages {
  std::int32_t rank = 0;
  std::vector<double> ms;
  std::vector<double> busy_ms;
  std::vector<double> waiting_ms;

  friend bool operator==(const RankStages&, const RankStages&) = default;
};

/// Stages that occur, in the order of an iteration. `iterations`: how many the totals cover (at
/// least 1). A rank without a stage counts with 0 in its mean.
[[nodiscard]] std::vector<StageRow> stage_table(std::span<const StageTotals> totals,
                                                std::int64_t iterations);

/// Every rank that occurs, ascending.
[[nodiscard]] std::vector<RankStages> rank_stages(std::span<const StageTotals> totals,
                                                  std::int64_t iterations);

}  // namespace shardscope
