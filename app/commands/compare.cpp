#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/interrupt.hpp"
#include "app/machine.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "engine/comparison_run.hpp"
#include "storage/comparisons.hpp"

namespace shardscope::app {
namespace {

constexpr double kDefaultTarget = 0.01;
constexpr double kDefaultBudgetSeconds = 60;

/// Both layouts with their engines; one engine is shared where both do not fit.
struct TwoEngines {
  std::unique_ptr<engine::Engine> a;
  std::unique_ptr<engine::Engine> b;  ///< null: swapped

  [[nodiscard]] engine::Engine& of_b() const { return b ? *b : *a; }
};

struct Compared {
  const CompareOptions& options;
  const Inputs& inputs;
  const Layout& a;
  const Layout& b;
  const engine::ComparisonOutcome& outcome;
  Mode mode = Mode::measured;
  std::string sentence;
  std::string session;
};

/// Both resident where the accounting says both fit, else one engine with A's layout.
Result<TwoEngines> make_engines(const CompareOptions& options, const Inputs& inputs,
                                const Layout& a, const Layout& b) {
  for (const Layout* layout : {&a, &b}) {
    if (const auto config = engine_config(options.run, inputs, *layout); !config) {
      return fail(config.error());
    }
  }
  const std::int64_t bytes_b = process_bytes(inputs, b);
  const bool resident =
      require_memory(saturating_add(process_bytes(inputs, a), bytes_b)).has_value();
  if (Status fits = require_memory(bytes_b); !fits) return fail(fits.error());
  TwoEngines engines;
  Result<std::unique_ptr<engine::Engine>> first = make_engine(options.run, inputs, a);
  if (!first) return fail(first.error());
  engines.a = std::move(*first);
  if (!resident) return engines;
  Result<std::unique_ptr<engine::Engine>> second = make_engine(options.run, inputs, b);
  if (!second) return fail(second.error());
  engines.b = std::move(*second);
  return engines;
}

std::string ratio_text(const RatioResult& result) {
  return fmt::format("B/A = {:.3f}  ({:.3f} to {:.3f}, {:.0f} %, +-{:.2f} %)",
                     result.ratio.estimate, result.ratio.low, result.ratio.high,
                     result.ratio.confidence * 100, result.ratio.half_width() * 100);
}

std::string reason_text(const CompareOptions& options, const RatioResult& result) {
  switch (result.reason) {
    case StopReason::target:
      return "the interval is as narrow as asked";
    case StopReason::interrupted:
      return "stopped early; the interval is widened for it";
    case StopReason::budget:
      break;
  }
  return options.target > 0 && !result.target_reached
             ? "the time was used up before the interval was as narrow as asked"
             : "the time was used up";
}

void print_side(const char* name, const Layout& layout, const engine::SideOutcome& side) {
  fmt::print("{}  {:<24}  {:>9} ms/iteration  {:>12} samples/s  critical path {} ms\n", name,
             layout.name, ms_text(side.iteration_ms),
             grouped(static_cast<long long>(side.samples_per_s)), ms_text(side.critical_path_ms));
}

void print_comparison(const Compared& done) {
  const Console console = Console::of_stdout();
  const engine::ComparisonOutcome& outcome = done.outcome;
  fmt::print("{}  {}\n\n", console.bold(mode_word(done.mode)),
             run_line(done.options.run, done.inputs));
  print_side("A", done.a, outcome.a);
  print_side("B", done.b, outcome.b);
  fmt::print("\n{}\n", console.bold(ratio_text(*outcome.ratio)));
  fmt::print("{} pairs of blocks of {} iterations, {} looks; {}.\n", outcome.ratio->pairs,
             outcome.block_iterations, outcome.ratio->looks,
             reason_text(done.options, *outcome.ratio));
  fmt::print("{} settling iterations left out; {}.\n", outcome.dropped_iterations,
             outcome.resident
                 ? "both layouts stayed in memory"
                 : fmt::format("layouts were swapped between blocks, {} in all, left out",
                               duration_text(outcome.swap_s)));
  fmt::print("\n{}\n\n{}\n{}\nSession: {}\n", done.sentence,
             stage_difference_text(outcome.a.stages, outcome.b.stages),
             rank_difference_text(outcome.a.stages, outcome.b.stages), done.session);
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

nlohmann::ordered_json comparison_json(const Compared& done) {
  const engine::ComparisonOutcome& outcome = done.outcome;
  return {{"mode", to_string(done.mode)},
          {"executor", "engine"},
          {"workload", done.inputs.workload.name},
          {"rows_cap", done.inputs.workload.rows_cap},
          {"topology", done.inputs.topology.name},
          {"ratio", interval_json(outcome.ratio->ratio)},
          {"reason", to_string(outcome.ratio->reason)},
          {"target_reached", outcome.ratio->target_reached},
          {"pairs", outcome.ratio->pairs},
          {"looks", outcome.ratio->looks},
          {"block_iterations", outcome.block_iterations},
          {"dropped_iterations", outcome.dropped_iterations},
          {"traced_pairs", outcome.traced_pairs},
          {"resident", outcome.resident},
          {"swap_s", outcome.swap_s},
          {"sentence", done.sentence},
          {"a", side_json(done.a, outcome.a)},
          {"b", side_json(done.b, outcome.b)},
          {"session", done.session}};
}

RunSummary side_summary(const engine::SideOutcome& side, bool complete) {
  RunSummary summary;
  summary.samples_per_s = side.samples_per_s;
  summary.iteration_ms = side.iteration_ms;
  summary.critical_path_ms = side.critical_path_ms;
  summary.complete = complete;
  summary.message = complete ? "" : "stopped by the user";
  return summary;
}

storage::ComparisonRecord record_of(const Compared& done, std::int64_t run_a, std::int64_t run_b) {
  const RatioResult& result = *done.outcome.ratio;
  storage::ComparisonRecord record;
  record.run_a = run_a;
  record.run_b = run_b;
  record.label_a = done.a.name;
  record.label_b = done.b.name;
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

/// Runs the comparison with progress; Ctrl-C stops it at the next block.
Result<engine::ComparisonOutcome> run_both(const CompareOptions& options, const TwoEngines& engines,
                                           engine::ComparisonSide a, engine::ComparisonSide b,
                                           Interrupt& interrupt) {
  Progress progress("compare");
  const LateAction abort(interrupt, [&] {
    const Error reason{ErrorKind::runtime, "stopped by the user", "", "", ""};
    engines.a->abort(reason);
    if (engines.b) engines.b->abort(reason);
  });
  engine::ComparisonConfig config;
  config.rule.target = options.target > 0 ? options.target : kDefaultTarget;
  config.budget_s = options.run.budget_s > 0 ? options.run.budget_s : kDefaultBudgetSeconds;
  config.seed = options.run.seed;
  config.iterations = options.run.iterations;
  return engine::comparison_run(a, b, config, [&](const engine::ComparisonProgress& now) {
    std::string detail = fmt::format("{} pairs", now.pairs);
    if (now.running) {
      detail += fmt::format(", B/A {:.3f} ({:.3f} to {:.3f})", now.running->estimate,
                            now.running->low, now.running->high);
    }
    progress.update(now.share, detail);
    return !interrupt.requested();
  });
}

Error too_few_pairs() {
  return {ErrorKind::runtime, "stopped before there were enough pairs of blocks for an interval",
          "compare", "at least 6 pairs (8 where a person stops it)",
          "Give it more time (--budget), or a smaller model (--rows-cap, --batch)"};
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

}  // namespace

Status compare(const CompareOptions& options) {
  Interrupt interrupt;
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<Layout> a = load_layout(options.layouts[0], *inputs);
  if (!a) return fail(a.error());
  const Result<Layout> b = load_layout(options.layouts[1], *inputs);
  if (!b) return fail(b.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "compare");
  if (!session) return fail(session.error());
  Result<TwoEngines> engines = make_engines(options, *inputs, *a, *b);
  if (!engines) return fail(engines.error());
  const Mode mode = engines->a->mode();
  auto recorder_a = engine::RunRecorder::begin(
      (*session)->writer(), run_info(options.run, *inputs, *a, *engines->a), *engines->a);
  if (!recorder_a) return fail(recorder_a.error());
  auto recorder_b = engine::RunRecorder::begin(
      (*session)->writer(), run_info(options.run, *inputs, *b, engines->of_b()), engines->of_b());
  if (!recorder_b) return fail(recorder_b.error());
  const auto outcome = run_both(options, *engines, {engines->a.get(), recorder_a->get(), &*a},
                                {&engines->of_b(), recorder_b->get(), &*b}, interrupt);
  const Status ended = end_runs(**recorder_a, **recorder_b, outcome);
  if (!outcome) return fail(outcome.error());
  if (!ended) return ended;
  if (!outcome->ratio) return fail(too_few_pairs());
  const Compared done{
      options,
      *inputs,
      *a,
      *b,
      *outcome,
      mode,
      explain(outcome->ratio->ratio, {a->name, outcome->a.stages}, {b->name, outcome->b.stages}),
      (*session)->path()};
  const auto saved = storage::save_comparison(
      (*session)->session(), record_of(done, (*recorder_a)->run(), (*recorder_b)->run()));
  if (!saved) return fail(saved.error());
  recorder_a->reset();
  recorder_b->reset();
  if (Status closed = (*session)->close(); !closed) return closed;
  if (options.json) {
    fmt::print("{}\n", comparison_json(done).dump(2));
  } else {
    print_comparison(done);
  }
  return {};
}

}  // namespace shardscope::app
