#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/coded_layout.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/console_watch.hpp"
#include "app/gpu_trace.hpp"
#include "app/jobs/profile_job.hpp"
#include "app/jobs/simulate_job.hpp"
#include "app/planning_codecs.hpp"
#include "app/prediction_report.hpp"
#include "app/priced_inputs.hpp"
#include "app/report.hpp"
#include "app/run_again.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

/// A trace shows where time goes; more iterations than these only fill the session.
constexpr std::int64_t kMostTracedIterations = 200;

/// Everything the report needs.
struct ProfileReport {
  const ProfileOptions& options;
  const Inputs& inputs;
  const Layout& layout;
  const Profiled& done;
  std::string session;
};

void print_profile(const ProfileReport& report) {
  const Console console = Console::of_stdout();
  const engine::ProfileOutcome& outcome = report.done.outcome;
  fmt::print("{}  layout {}{}\n{}\n\n", console.bold(mode_word(report.done.mode)),
             report.layout.name, outcome.interrupted ? "  (stopped early)" : "",
             run_line(report.options.run, report.inputs));
  fmt::print("iteration      {} ms  (blocks {} to {} ms; {}, {} of warm-up left out)\n",
             ms_text(outcome.iteration_ms), ms_text(outcome.fastest_block_ms),
             ms_text(outcome.slowest_block_ms), counted(outcome.iterations, "iteration"),
             outcome.warm_up_iterations);
  fmt::print("throughput     {} samples/s\n",
             grouped(static_cast<long long>(outcome.samples_per_s)));
  fmt::print("critical path  {} ms  (longest chain of the slowest ranks' busy times)\n",
             ms_text(outcome.critical_path_ms));
  fmt::print("tracing costs  {}\n", outcome.tracing_overhead
                                        ? percent_interval_text(*outcome.tracing_overhead)
                                        : "unknown: too few blocks for an interval");
  const auto fullest =
      std::max_element(report.done.memory_bytes.begin(), report.done.memory_bytes.end());
  if (fullest != report.done.memory_bytes.end()) {
    fmt::print("memory         {} on the fullest rank ({})\n",
               bytes_text(static_cast<double>(*fullest)),
               fullest - report.done.memory_bytes.begin());
  }
  if (report.options.run.graphs) {
    const engine::GraphCounts& graphs = report.done.graphs;
    fmt::print("graphs         {} launches, {} runs without ({} did not fit their graph)\n",
               graphs.launched, graphs.direct + graphs.overflows, graphs.overflows);
  }
  if (report.inputs.workload.dense.interaction != Interaction::none) {
    fmt::print("loss           {:.4f} after the last iteration\n", outcome.loss);
  }
  if (outcome.dropped_spans > 0) fmt::print("lost spans     {}\n", outcome.dropped_spans);
  fmt::print("\n{}\n{}{}{}\nSession: {} (run {})\n", stage_table_text(outcome.stages),
             codec_table_text(outcome.codecs), outcome.codecs.empty() ? "" : "\n",
             rank_bars_text(outcome.stages, std::min(console.width - 30, 60)), report.session,
             report.done.run);
}

/// Nothing runs: the cost model's iteration is recorded and shown.
Status profile_simulated(const ProfileOptions& options) {
  const std::optional<ScheduleKind> schedule =
      options.schedule_given ? std::optional(options.run.schedule) : std::nullopt;
  const Result<PricedInputs> priced = load_priced_inputs(
      options.inputs, {options.executor, schedule}, options.layout, options.json);
  if (!priced) return fail(priced.error());
  const Inputs& inputs = priced->inputs;
  const Result<CodedLayout> coded =
      coded_layout(priced->layout, inputs, options.codecs, options.run);
  if (!coded) return fail(coded.error());
  const Layout& layout = coded->layout;
  PredictOptions how = priced->how;
  if (coded->tuned) {
    how.codecs = profiles_of(coded->tuned->tables);
  } else if (!options.codecs.codec.empty()) {
    if (Status known = measure_codecs_of(inputs, layout, how); !known) return known;
  }
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "profile");
  if (!session) return fail(session.error());
  const Result<Simulated> done = run_simulation(options.run, how, inputs, layout, **session);
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  if (!closed) return closed;
  if (options.json) {
    nlohmann::ordered_json json = prediction_json(inputs, layout, how, done->prediction);
    json["ratio"] = reference_json(ratio_to_reference(inputs, layout, how));
    json["iteration_ms"] = done->prediction.iteration_s * 1e3;
    json["session"] = (*session)->path();
    json["run"] = done->run;
    fmt::print("{}\n", json.dump(2));
    return {};
  }
  const Console console = Console::of_stdout();
  fmt::print("{}  layout {}\n{}\n\n{}{}\n{}\nSession: {} (run {})\n",
             console.bold(mode_word(Mode::simulated)), layout.name, setting_line(inputs, how),
             reference_text(ratio_to_reference(inputs, layout, how)),
             prediction_text(inputs, done->prediction),
             stage_table_text(stage_profile_of(done->prediction, inputs.topology.ranks())),
             (*session)->path(), done->run);
  return {};
}

/// This process records the GPU's activity into the session of the one that has measured.
Status record_gpu_activity(const ProfileOptions& options, const Inputs& inputs,
                           const Layout& layout) {
  RunOptions run = options.run;
  run.iterations = std::min(run.iterations, kMostTracedIterations);
  run.budget_s = 0;  // a trace's own
  const std::unique_ptr<GpuTrace> trace = GpuTrace::start(run, inputs.topology);
  if (trace->refusal()) return fail(*trace->refusal());
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.trace_into, "profile");
  if (!session) return fail(session.error());
  auto engine = make_engine(run, inputs, layout, trace->tracer());
  if (!engine) return fail(engine.error());
  ConsoleWatch watch("trace");
  const Result<Profiled> done =
      run_profile(**engine, run, inputs, layout, **session, watch, trace.get());
  watch.finish();
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  return closed;
}

/// CUPTI and throughput do not share a process: the trace is recorded by another one of this
/// program, behind the measurement. What keeps it from it is said and does not fail the command.
void trace_in_a_process_of_its_own(const std::string& session) {
  if (const Status traced = run_again({"--trace-into", session}); !traced) {
    fmt::print(stderr, "shardscope: no GPU trace: {}\n", to_string(traced.error()));
  }
}

}  // namespace

Status profile(const ProfileOptions& options) {
  if (!options.trace_into.empty()) {
    const Result<Inputs> traced = load_inputs(options.inputs);
    if (!traced) return fail(traced.error());
    const Result<Layout> layout = load_layout(options.layout, *traced);
    if (!layout) return fail(layout.error());
    return record_gpu_activity(options, *traced, *layout);
  }
  if (options.run.backend == "sim") return profile_simulated(options);
  if (options.executor != Executor::engine)
    return fail({ErrorKind::usage,
                 fmt::format("executor {} does not run here", to_string(options.executor)),
                 "--executor", "engine", "--backend sim simulates it"});
  ConsoleWatch watch("profile");
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  Result<Layout> plain = load_layout(options.layout, *inputs);
  if (!plain) return fail(plain.error());
  const Result<CodedLayout> coded =
      coded_layout(std::move(*plain), *inputs, options.codecs, options.run);
  if (!coded) return fail(coded.error());
  const Layout& layout = coded->layout;
  Result<std::unique_ptr<OpenSession>> session = OpenSession::open(options.session, "profile");
  if (!session) return fail(session.error());
  Result<std::unique_ptr<engine::Engine>> engine = make_engine(options.run, *inputs, layout);
  if (!engine) return fail(engine.error());
  const Result<Profiled> done =
      run_profile(**engine, options.run, *inputs, layout, **session, watch);
  watch.finish();
  engine->reset();
  const Status closed = (*session)->close();
  if (!done) return fail(done.error());
  if (!closed) return closed;
  if (options.run.backend == "cuda" && !options.no_gpu_trace) {
    trace_in_a_process_of_its_own((*session)->path());
  }
  if (options.json) {
    nlohmann::ordered_json json = profile_json(*inputs, layout, *done);
    json["codecs"] = choices_json(*inputs, *coded);
    json["session"] = (*session)->path();
    fmt::print("{}\n", json.dump(2));
  } else {
    print_choices(*inputs, *coded);
    print_profile({options, *inputs, layout, *done, (*session)->path()});
  }
  return {};
}

}  // namespace shardscope::app
