#include "ui/model/recorded_runs.hpp"

#include <utility>

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

Result<std::optional<RecordedRuns>> last_runs(const storage::Session& session) {
  const auto comparisons = storage::list_comparisons(session);
  if (!comparisons) return fail(comparisons.error());
  RecordedRuns result;
  std::int64_t run_a = 0, run_b = 0;
  if (!comparisons->empty() && comparisons->back().run_a > 0) {
    result.comparison = comparisons->back();
    run_a = result.comparison->run_a;
    run_b = result.comparison->run_b;
  } else {
    const auto runs = storage::list_runs(session);
    if (!runs) return fail(runs.error());
    if (runs->empty()) return std::nullopt;
    run_a = runs->back().id;
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
