#pragma once
// What a session holds of past runs and comparisons, read for the Run workspace.

#include <optional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "profiler/stage_times.hpp"
#include "storage/comparisons.hpp"
#include "storage/queries/runs.hpp"
#include "storage/session.hpp"
#include "ui/model/learning_curve.hpp"
#include "ui/model/run_prediction.hpp"
#include "ui/model/run_series.hpp"

namespace shardscope::ui {

/// One layout as it ran.
struct RunSide {
  std::string label;  ///< the layout's name
  std::int64_t run = 0;
  Mode mode = Mode::measured;
  RunSeries series;
  std::vector<StageRow> stages;
  std::vector<RankStages> ranks;
  std::optional<RunPrediction> predicted;
};

struct RecordedRuns {
  RunSide a;
  std::optional<RunSide> b;
  std::optional<storage::ComparisonRecord> comparison;
  storage::RunRecord record;  ///< of A: how it ran
  /// A is the layout before the job moved to B: their blocks are no pairs.
  bool moved = false;
  LearningCurve curve;  ///< of a training, over all its layouts
};

/// The last run: alone, as part of its comparison, or with the run that moved to it. Nothing where
/// the session has no run.
[[nodiscard]] Result<std::optional<RecordedRuns>> last_runs(const storage::Session& session);
[[nodiscard]] Result<RunSide> read_side(const storage::Session& session, std::int64_t run);

[[nodiscard]] Mode mode_of(const std::string& name);

}  // namespace shardscope::ui
