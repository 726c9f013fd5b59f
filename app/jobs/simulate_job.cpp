#include "app/jobs/simulate_job.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/run_setup.hpp"

namespace shardscope::app {
namespace {

Iteration iteration_of(const Prediction& prediction) {
  Iteration iteration;
  iteration.end_ns = std::llround(prediction.iteration_s * 1e9);
  iteration.traced = true;
  iteration.loss = std::numeric_limits<double>::quiet_NaN();
  return iteration;
}

double critical_path_ms(const Prediction& prediction) {
  double seconds = 0;
  for (const CriticalPiece& piece : prediction.simulation.critical_path)
    seconds += piece.end_s - piece.start_s;
  return seconds * 1e3;
}

}  // namespace

Result<Simulated> run_simulation(const RunOptions& options, const PredictOptions& how,
                                 const Inputs& inputs, const Layout& layout, JobOutput& output) {
  if (Status valid = require_valid(inputs, layout, how.executor); !valid)
    return fail(valid.error());
  Result<Prediction> prediction = predict(inputs.workload, inputs.topology, layout, how);
  if (!prediction) return fail(prediction.error());
  RecordSink& sink = output.records();
  RunInfo info = run_info(options, inputs, layout);
  info.executor = how.executor;
  info.schedule = to_string(how.schedule);
  info.mode = Mode::simulated;
  info.backend = "sim";
  const Result<std::int64_t> run = sink.begin_run(info);
  if (!run) return fail(run.error());
  sink.spans(*run, prediction->simulation.spans);
  const Iteration iteration = iteration_of(*prediction);
  sink.iterations(*run, {&iteration, 1});
  RunSummary summary;
  summary.tracing_overhead = std::numeric_limits<double>::quiet_NaN();
  summary.samples_per_s = prediction->samples_per_s;
  summary.iteration_ms = prediction->iteration_s * 1e3;
  summary.critical_path_ms = critical_path_ms(*prediction);
  if (Status ended = sink.end_run(*run, summary); !ended) return fail(ended.error());
  return Simulated{std::move(*prediction), *run};
}

}  // namespace shardscope::app
