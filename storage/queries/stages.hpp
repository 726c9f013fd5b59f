#pragma once
// Where the time of a run's iterations went.

#include <cstdint>
#include <vector>

#include "layout/result.hpp"
#include "profiler/stage_times.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// Sums by rank, stage and work over the traced iterations, warm-up excluded.
struct RunStages {
  std::vector<StageTotals> totals;
  std::int64_t iterations = 0;  ///< that they cover; 0: nothing was traced

  /// Per iteration, in the order of the stages.
  [[nodiscard]] std::vector<StageRow> table() const { return stage_table(totals, iterations); }
  [[nodiscard]] std::vector<RankStages> ranks() const { return rank_stages(totals, iterations); }
};

/// As written at the run's end; of a run that is still going on (or was killed), from the spans it
/// has by now.
[[nodiscard]] Result<RunStages> run_stages(const Session& session, std::int64_t run);

}  // namespace shardscope::storage
