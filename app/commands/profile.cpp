#include "engine/profile_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/interrupt.hpp"
#include "app/progress.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

/// Everything the report needs.
struct Profiled {
  const ProfileOptions& options;
  const Inputs& inputs;
  const Layout& layout;
  const engine::ProfileOutcome& outcome;
  Mode mode = Mode::measured;
  std::vector<std::int64_t> memory_bytes;  ///< by rank
  std::string session;
  std::int64_t run = 0;
};

void print_profile(const Profiled& done) {
  const Console console = Console::of_stdout();
  const engine::ProfileOutcome& outcome = done.outcome;
  fmt::print("{}  layout {}{}\n{}\n\n", console.bold(mode_word(done.mode)), done.layout.name,
             outcome.interrupted ? "  (stopped early)" : "",
             run_line(done.options.run, done.inputs));
  fmt::print("iteration      {} ms  (blocks {} to {} ms; {} iterations, {} of warm-up left out)\n",
             ms_text(outcome.iteration_ms), ms_text(outcome.fastest_block_ms),
             ms_text(outcome.slowest_block_ms), outcome.iterations, outcome.warm_up_iterations);
  fmt::print("throughput     {} samples/s\n",
             grouped(static_cast<long long>(outcome.samples_per_s)));
  fmt::print("critical path  {} ms  (longest chain of the slowest ranks' busy times)\n",
             ms_text(outcome.critical_path_ms));
  fmt::print("tracing costs  {}\n", outcome.tracing_overhead
                                        ? percent_interval_text(*outcome.tracing_overhead)
                                        : "unknown: too few blocks for an interval");
  const auto fullest = std::max_element(done.memory_bytes.begin(), done.memory_bytes.end());
  if (fullest != done.memory_bytes.end()) {
    fmt::print("memory         {} on the fullest rank ({})\n",
               bytes_text(static_cast<double>(*fullest)), fullest - done.memory_bytes.begin());
  }
  if (done.inputs.workload.dense.interaction != Interaction::none) {
    fmt::print("loss           {:.4f} after the last iteration\n", outcome.loss);
  }
  if (outcome.dropped_spans > 0) fmt::print("lost spans     {}\n", outcome.dropped_spans);
  fmt::print("\n{}\n{}\nSession: {} (run {})\n", stage_table_text(outcome.stages),
             rank_bars_text(outcome.stages, std::min(console.width - 30, 60)), done.session,
             done.run);
}

void print_profile_json(const Profiled& done) {
  const engine::ProfileOutcome& outcome = done.outcome;
  nlohmann::ordered_json json = {{"mode", to_string(done.mode)},
                                 {"executor", "engine"},
                                 {"workload", done.inputs.workload.name},
                                 {"rows_cap", done.inputs.workload.rows_cap},
                                 {"topology", done.inputs.topology.name},
                                 {"layout", done.layout.name},
                                 {"global_batch", done.inputs.workload.global_batch},
                                 {"samples_per_s", outcome.samples_per_s},
                                 {"iteration_ms", outcome.iteration_ms},
                                 {"critical_path_ms", outcome.critical_path_ms},
                                 {"iterations", outcome.iterations},
                                 {"warm_up_iterations", outcome.warm_up_iterations},
                                 {"traced_iterations", outcome.traced_iterations},
                                 {"stages", stages_json(outcome.stages)},
                                 {"ranks", ranks_json(outcome.stages)},
                                 {"memory", done.memory_bytes},
                                 {"tracing_overhead", nullptr},
                                 {"loss", outcome.loss},
                                 {"dropped_spans", outcome.dropped_spans},
                                 {"interrupted", outcome.interrupted},
                                 {"session", done.session},
                                 {"run", done.run}};
  if (outcome.tracing_overhead) json["tracing_overhead"] = interval_json(*outcome.tracing_overhead);
  fmt::print("{}\n", json.dump(2));
}

RunSummary summary_of(const engine::ProfileOutcome& outcome) {
  RunSummary summary;
  summary.samples_per_s = outcome.samples_per_s;
  summary.iteration_ms = outcome.iteration_ms;
  summary.critical_path_ms = outcome.critical_path_ms;
  summary.tracing_overhead = outcome.tracing_overhead ? outcome.tracing_overhead->estimate : 0;
  summary.complete = !outcome.interrupted;
  summary.message = outcome.interrupted ? "stopped by the user" : "";
  return summary;
}

/// Runs and closes the recorded run whatever happens.
Result<engine::ProfileOutcome> measure(const ProfileOptions& options, engine::Engine& engine,
                                       engine::RunRecorder& recorder, Interrupt& interrupt) {
  Progress progress("profile");
  const LateAction abort(interrupt, [&] {
    engine.abort({ErrorKind::runtime, "stopped by the user", "", "", ""});
  });
  const engine::ProfileConfig config{options.run.iterations,
                                     options.run.budget_s > 0 ? options.run.budget_s : 10,
                                     options.run.seed};
  Result<engine::ProfileOutcome> outcome =
      engine::profile_run(engine, recorder, config, [&](const engine::ProfileProgress& now) {
        progress.update(now.share, fmt::format("{} ms an iteration", ms_text(now.iteration_ms)));
        return !interrupt.requested();
      });
  RunSummary summary;
  if (outcome) {
    summary = summary_of(*outcome);
  } else {
    summary.complete = false;
    summary.message = to_string(outcome.error());
  }
  if (Status ended = recorder.end(summary); !ended && outcome) return fail(ended.error());
  return outcome;
}

}  // namespace

Status profile(const ProfileOptions& options) {
  Interrupt interrupt;
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<Layout> layout = load_layout(options.layout, *inputs);
  if (!layout) return fail(layout.error());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "profile");
  if (!session) return fail(session.error());
  Result<std::unique_ptr<engine::Engine>> engine = make_engine(options.run, *inputs, *layout);
  if (!engine) return fail(engine.error());
  auto recorder = engine::RunRecorder::begin(
      (*session)->writer(), run_info(options.run, *inputs, *layout, **engine), **engine);
  if (!recorder) return fail(recorder.error());
  const Result<engine::ProfileOutcome> outcome = measure(options, **engine, **recorder, interrupt);
  const std::int64_t run = (*recorder)->run();
  recorder->reset();
  const Status closed = (*session)->close();
  if (!outcome) return fail(outcome.error());
  if (!closed) return closed;
  const Profiled done{options,
                      *inputs,
                      *layout,
                      *outcome,
                      (*engine)->mode(),
                      (*engine)->arena_peak_bytes(),
                      (*session)->path(),
                      run};
  options.json ? print_profile_json(done) : print_profile(done);
  return {};
}

}  // namespace shardscope::app
