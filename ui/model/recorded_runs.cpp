#include "ui/model/recorded_runs.hpp"

#include <algorithm>
#include <utility>

#include "storage/curves.hpp"
#include "storage/queries/stages.hpp"

namespace shardscope::ui {

Mode mode_of(const std::string& name) {
  for (const Mode mode : {Mode::measured, Mode::emulated, Mode::simulated}) {
    if (name == to_string(mode)) return mode;
  }
  return Mode::measured;
}

Result<RunSide> read_side(const storage::Session& session, std::int64_t run) {
  const auto record = storage::find_run(session, run);
  if (!record) return fail(record.error());
  RunSide side;
  side.label = record->layout_name;
  side.run = run;
  side.mode = mode_of(record->mode);
  const auto iterations = storage::iterations_of(session, run);
  if (!iterations) return fail(iterations.error());
  side.series.reset(record->global_batch);
  side.series.add(*iterations);
  const auto stages = storage::run_stages(session, run);
  if (!stages) return fail(stages.error());
  if (stages->iterations > 0) {
    side.stages = stages->table();
    side.ranks = stages->ranks();
  }
  // What cannot be priced (an imported trace of an unknown model) has no prediction.
  if (auto predicted = predict_run(session, *record, side.stages)) side.predicted = *predicted;
  return side;
}

namespace {

/// Index of the first run of the job that run `last` ended: it moved from layout to layout.
std::size_t first_of_job(const std::vector<storage::RunRecord>& runs, std::size_t last) {
  std::size_t first = last;
  while (first > 0 && runs[first - 1].message == storage::kMovedOn) --first;
  return first;
}

Status read_curve(const storage::Session& session, const storage::RunRecord& run, bool moved,
                  LearningCurve& curve) {
  const auto points = storage::load_curve(session, run.id);
  if (!points) return fail(points.error());
  if (moved && !curve.empty()) curve.add_move(run.layout_name);
  for (const storage::CurvePoint& point : *points) {
    curve.add(point.split, point.iteration, point.samples, point.loss, point.auc);
  }
  return {};
}

}  // namespace

Result<std::optional<RecordedRuns>> last_runs(const storage::Session& session) {
  const auto runs = storage::list_runs(session);
  if (!runs) return fail(runs.error());
  if (runs->empty()) return std::nullopt;
  const auto comparisons = storage::list_comparisons(session);
  if (!comparisons) return fail(comparisons.error());
  RecordedRuns result;
  const std::size_t last = runs->size() - 1;
  const std::int64_t newest = (*runs)[last].id;
  std::int64_t run_a = newest, run_b = 0;
  const bool compared = !comparisons->empty() && comparisons->back().run_a > 0 &&
                        std::max(comparisons->back().run_a, comparisons->back().run_b) == newest;
  const std::size_t first = compared ? last : first_of_job(*runs, last);
  if (compared) {
    result.comparison = comparisons->back();
    run_a = result.comparison->run_a;
    run_b = result.comparison->run_b;
  } else if (first < last) {
    result.moved = true;
    run_a = (*runs)[last - 1].id;
    run_b = newest;
  }
  for (std::size_t i = first; i <= last && !compared; ++i) {
    if (Status read = read_curve(session, (*runs)[i], i > first, result.curve); !read) {
      return fail(read.error());
    }
  }
  const auto record = storage::find_run(session, run_a);
  if (!record) return fail(record.error());
  result.record = *record;
  auto a = read_side(session, run_a);
  if (!a) return fail(a.error());
  result.a = std::move(*a);
  if (run_b > 0) {
    auto b = read_side(session, run_b);
    if (!b) return fail(b.error());
    result.b = std::move(*b);
  }
  return std::optional(std::move(result));
}

}  // namespace shardscope::ui
