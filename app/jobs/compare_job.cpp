#include "app/jobs/compare_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "engine/cpu/memory.hpp"
#include "engine/run_recorder.hpp"

namespace shardscope::app {
namespace {

constexpr double kDefaultTarget = 0.01;
constexpr double kComparisonBudgetSeconds = 60;
constexpr double kComfortablePairs = 16;  ///< warm-up included
/// Threads, batches to count; then tables and buffers read and written.
constexpr double kTradeSeconds = 0.03;
constexpr double kTradeBytesPerSecond = 1e9;

/// Both layouts with their engines; one engine is shared where both do not fit.
struct TwoEngines {
  std::unique_ptr<engine::Engine> a;
  std::unique_ptr<engine::Engine> b;  ///< null: swapped

  [[nodiscard]] engine::Engine& of_b() const { return b ? *b : *a; }
};

/// Both resident where the accounting says both fit, else one engine with A's layout.
Result<TwoEngines> make_engines(const CompareJob& job) {
  std::shared_ptr<engine::Device> device;
  for (const Layout* layout : {&job.a, &job.b}) {
    const auto config = engine_config(job.run, job.inputs, *layout);
    if (!config) return fail(config.error());
    device = config->device;
  }
  const std::int64_t bytes_b = process_bytes(job.inputs, job.b);
  const bool resident =
      require_memory(saturating_add(process_bytes(job.inputs, job.a), bytes_b), device.get())
          .has_value();
  if (Status fits = require_memory(bytes_b, device.get()); !fits) return fail(fits.error());
  TwoEngines engines;
  Result<std::unique_ptr<engine::Engine>> first = make_engine(job.run, job.inputs, job.a);
  if (!first) return fail(first.error());
  engines.a = std::move(*first);
  if (!resident) return engines;
  Result<std::unique_ptr<engine::Engine>> second = make_engine(job.run, job.inputs, job.b);
  if (!second) return fail(second.error());
  engines.b = std::move(*second);
  return engines;
}

RunSummary side_summary(const engine::SideOutcome& side, bool complete) {
  RunSummary summary;
  summary.tracing_overhead = std::numeric_limits<double>::quiet_NaN();  // traced pairs stand alone
  summary.samples_per_s = side.samples_per_s;
  summary.iteration_ms = side.iteration_ms;
  summary.critical_path_ms = side.critical_path_ms;
  summary.complete = complete;
  summary.message = complete ? "" : "stopped by the user";
  return summary;
}

storage::ComparisonRecord record_of(const CompareJob& job, const Compared& done) {
  const RatioResult& result = *done.outcome.ratio;
  storage::ComparisonRecord record;
  record.run_a = done.run_a;
  record.run_b = done.run_b;
  record.label_a = job.a.name;
  record.label_b = job.b.name;
  record.mode = to_string(done.mode);
  record.ratio = result.ratio.estimate;
  record.low = result.ratio.low;
  record.high = result.ratio.high;
  record.confidence = result.ratio.confidence;
  record.a_ms = done.outcome.a.iteration_ms;
  record.b_ms = done.outcome.b.iteration_ms;
  record.blocks = result.pairs;
  record.looks = result.looks;
  record.dropped_iterations = done.outcome.dropped_iterations;
  record.reason = to_string(result.reason);
  record.stages_json = nlohmann::ordered_json{{"a", stages_json(done.outcome.a.stages)},
                                              {"b", stages_json(done.outcome.b.stages)}}
                           .dump();
  record.sentence = done.sentence;
  return record;
}

/// What moving both layouts to the other's engine takes; 0 (never) on a GPU, where trades were
/// never run, and where the copies of one layout's tables made on the way do not fit beside both.
double trade_seconds(const CompareJob& job) {
  if (job.run.backend != "cpu") return 0;
  const std::int64_t a = process_bytes(job.inputs, job.a);
  const std::int64_t b = process_bytes(job.inputs, job.b);
  if (std::max(a, b) > engine::available_memory_bytes()) return 0;
  return kTradeSeconds + static_cast<double>(saturating_add(a, b)) / kTradeBytesPerSecond;
}

/// Runs the comparison under the watch.
Result<engine::ComparisonOutcome> run_both(const CompareJob& job, const TwoEngines& engines,
                                           engine::ComparisonSide a, engine::ComparisonSide b,
                                           const JobOutput& output, JobWatch& watch) {
  const LateAction abort(watch, [&] {
    engines.a->abort(stopped_by_the_user());
    if (engines.b) engines.b->abort(stopped_by_the_user());
  });
  engine::ComparisonConfig config;
  config.rule.target = job.target > 0 ? job.target : kDefaultTarget;
  config.budget_s = job.run.budget_s > 0 ? job.run.budget_s : kComparisonBudgetSeconds;
  config.seed = job.run.seed;
  config.iterations = job.run.iterations;
  config.trade_s = trade_seconds(job);
  return engine::comparison_run(a, b, config, [&](const engine::ComparisonProgress& now) {
    std::string detail = counted(now.pairs, "pair");
    if (now.running) {
      detail += fmt::format(", B/A {:.3f} ({:.3f} to {:.3f})", now.running->estimate,
                            now.running->low, now.running->high);
    }
    watch.progress(now.share, detail);
    return !watch.stop_requested() && output.status();
  });
}

Error too_few_pairs(double pair_s) {
  return {ErrorKind::runtime, "stopped before there were enough pairs of blocks for an interval",
          "compare",
          fmt::format("at least 6 pairs (8 where a person stops it); one takes {}",
                      duration_text(pair_s)),
          fmt::format("Give it more time (--budget {:.0f}s), or a smaller model (--rows-cap, "
                      "--batch)",
                      std::ceil(kComfortablePairs * pair_s + 1))};
}

/// Closes both recorded runs.
Status end_runs(engine::RunRecorder& a, engine::RunRecorder& b,
                const Result<engine::ComparisonOutcome>& outcome) {
  RunSummary failed;
  failed.complete = false;
  if (!outcome) failed.message = to_string(outcome.error());
  const bool complete =
      outcome && outcome->ratio && outcome->ratio->reason != StopReason::interrupted;
  const Status ended_a = a.end(outcome ? side_summary(outcome->a, complete) : failed);
  const Status ended_b = b.end(outcome ? side_summary(outcome->b, complete) : failed);
  return ended_a ? ended_b : ended_a;
}

nlohmann::ordered_json side_json(const Layout& layout, const engine::SideOutcome& side) {
  return {{"layout", layout.name},
          {"iteration_ms", side.iteration_ms},
          {"samples_per_s", side.samples_per_s},
          {"critical_path_ms", side.critical_path_ms},
          {"iterations", side.iterations},
          {"stages", stages_json(side.stages)},
          {"ranks", ranks_json(side.stages)}};
}

/// One recorder a side; both runs are closed when the comparison has ended.
struct TwoRecorders {
  std::unique_ptr<engine::RunRecorder> a;
  std::unique_ptr<engine::RunRecorder> b;
};

Result<TwoRecorders> begin_runs(const CompareJob& job, const TwoEngines& engines,
                                RecordSink& sink) {
  TwoRecorders recorders;
  auto a = engine::RunRecorder::begin(sink, run_info(job.run, job.inputs, job.a, *engines.a),
                                      *engines.a);
  if (!a) return fail(a.error());
  recorders.a = std::move(*a);
  auto b = engine::RunRecorder::begin(sink, run_info(job.run, job.inputs, job.b, engines.of_b()),
                                      engines.of_b());
  if (!b) return fail(b.error());
  recorders.b = std::move(*b);
  return recorders;
}

}  // namespace

Result<Compared> run_comparison(const CompareJob& job, JobOutput& output, JobWatch& watch) {
  const Result<TwoEngines> engines = make_engines(job);
  if (!engines) return fail(engines.error());
  const Result<TwoRecorders> recorders = begin_runs(job, *engines, output.records());
  if (!recorders) return fail(recorders.error());
  Result<engine::ComparisonOutcome> outcome =
      run_both(job, *engines, {engines->a.get(), recorders->a.get(), &job.a},
               {&engines->of_b(), recorders->b.get(), &job.b}, output, watch);
  const Status ended = end_runs(*recorders->a, *recorders->b, outcome);
  if (const Status kept = output.status(); !kept) return fail(kept.error());
  if (!outcome) return fail(outcome.error());
  if (!ended) return fail(ended.error());
  if (!outcome->ratio) return fail(too_few_pairs(outcome->pair_s));
  Compared done;
  done.mode = engines->a->mode();
  done.sentence = explain(outcome->ratio->ratio, {job.a.name, outcome->a.stages},
                          {job.b.name, outcome->b.stages});
  done.outcome = std::move(*outcome);
  done.run_a = recorders->a->run();
  done.run_b = recorders->b->run();
  if (Status saved = output.save_comparison(record_of(job, done)); !saved) {
    return fail(saved.error());
  }
  return done;
}

std::string medians_apart_text(const engine::ComparisonOutcome& outcome) {
  if (!outcome.ratio || outcome.ratio->ratio.contains(outcome.medians_ratio())) return {};
  return fmt::format(
      "The two ms are medians of all blocks of a side: they alone would say {:.3f}. The ratio "
      "pairs "
      "blocks that ran\nnext to each other; this machine's speed changed in between, so trust the "
      "ratio.\n",
      outcome.medians_ratio());
}

nlohmann::ordered_json comparison_json(const CompareJob& job, const Compared& done) {
  const engine::ComparisonOutcome& outcome = done.outcome;
  return {{"mode", to_string(done.mode)},
          {"executor", "engine"},
          {"workload", job.inputs.workload.name},
          {"rows_cap", job.inputs.workload.rows_cap},
          {"topology", job.inputs.topology.name},
          {"ratio", interval_json(outcome.ratio->ratio)},
          {"medians_ratio", outcome.medians_ratio()},
          {"reason", to_string(outcome.ratio->reason)},
          {"target_reached", outcome.ratio->target_reached},
          {"pairs", outcome.ratio->pairs},
          {"looks", outcome.ratio->looks},
          {"block_iterations", outcome.block_iterations},
          {"dropped_iterations", outcome.dropped_iterations},
          {"traced_pairs", outcome.traced_pairs},
          {"resident", outcome.resident},
          {"trades", outcome.trades},
          {"swap_s", outcome.swap_s},
          {"sentence", done.sentence},
          {"a", side_json(job.a, outcome.a)},
          {"b", side_json(job.b, outcome.b)},
          {"run_a", done.run_a},
          {"run_b", done.run_b}};
}

}  // namespace shardscope::app
