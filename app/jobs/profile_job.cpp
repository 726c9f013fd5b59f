#include "app/jobs/profile_job.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/gpu_trace.hpp"
#include "app/report.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "storage/queries/runs.hpp"

namespace shardscope::app {
namespace {

constexpr double kProfileBudgetSeconds = 10;
constexpr double kTraceBudgetSeconds = 2;

/// CUPTI slows what it sees: of a traced run nothing is told but that.
RunSummary traced_summary(const Result<engine::ProfileOutcome>& outcome,
                          const cupti::DecodeCounts& counts) {
  RunSummary summary;
  summary.complete = outcome && !outcome->interrupted;
  summary.message =
      outcome ? fmt::format("GPU activity by CUPTI, {} records; not a measurement", counts.records)
              : to_string(outcome.error());
  return summary;
}

RunSummary profile_summary(const Result<engine::ProfileOutcome>& outcome, bool moves_on) {
  RunSummary summary;
  summary.tracing_overhead = std::numeric_limits<double>::quiet_NaN();  // until it is known
  if (!outcome) {
    summary.complete = false;
    summary.message = to_string(outcome.error());
    return summary;
  }
  summary.samples_per_s = outcome->samples_per_s;
  summary.iteration_ms = outcome->iteration_ms;
  summary.critical_path_ms = outcome->critical_path_ms;
  if (outcome->tracing_overhead) summary.tracing_overhead = outcome->tracing_overhead->estimate;
  summary.complete = !outcome->interrupted || moves_on;
  summary.message = moves_on               ? storage::kMovedOn
                    : outcome->interrupted ? "stopped by the user"
                                           : "";
  return summary;
}

}  // namespace

Result<Profiled> run_profile(engine::Engine& engine, const RunOptions& options,
                             const Inputs& inputs, const Layout& layout, JobOutput& output,
                             JobWatch& watch, GpuTrace* trace) {
  auto recorder = engine::RunRecorder::begin(output.records(),
                                             run_info(options, inputs, layout, engine), engine);
  if (!recorder) return fail(recorder.error());
  const LateAction abort(watch, [&] { engine.abort(stopped_by_the_user()); });
  const double budget_s = trace != nullptr ? kTraceBudgetSeconds : kProfileBudgetSeconds;
  const engine::ProfileConfig config{
      options.iterations, options.budget_s > 0 ? options.budget_s : budget_s, options.seed};
  if (trace != nullptr) trace->attach(output.records(), (*recorder)->run(), engine.epoch_ns());
  Result<engine::ProfileOutcome> outcome =
      engine::profile_run(engine, **recorder, config, [&](const engine::ProfileProgress& now) {
        watch.progress(now.share, now.iteration_ms > 0
                                      ? fmt::format("{} ms an iteration", ms_text(now.iteration_ms))
                                      : std::string("tracing"));
        return !watch.stop_requested() && output.status();
      });
  if (trace != nullptr) trace->finish();
  const Status ended =
      (*recorder)->end(trace != nullptr ? traced_summary(outcome, trace->counts())
                                        : profile_summary(outcome, watch.moves_on()));
  if (const Status kept = output.status(); !kept) return fail(kept.error());
  if (!outcome) return fail(outcome.error());
  if (!ended) return fail(ended.error());
  return Profiled{std::move(*outcome), engine.mode(),         engine.arena_peak_bytes(),
                  (*recorder)->run(),  engine.graph_counts(), trace != nullptr};
}

nlohmann::ordered_json profile_json(const Inputs& inputs, const Layout& layout,
                                    const Profiled& done) {
  const engine::ProfileOutcome& outcome = done.outcome;
  nlohmann::ordered_json json = {{"mode", to_string(done.mode)},
                                 {"executor", "engine"},
                                 {"workload", inputs.workload.name},
                                 {"rows_cap", inputs.workload.rows_cap},
                                 {"topology", inputs.topology.name},
                                 {"layout", layout.name},
                                 {"global_batch", inputs.workload.global_batch},
                                 {"samples_per_s", outcome.samples_per_s},
                                 {"iteration_ms", outcome.iteration_ms},
                                 {"critical_path_ms", outcome.critical_path_ms},
                                 {"iterations", outcome.iterations},
                                 {"warm_up_iterations", outcome.warm_up_iterations},
                                 {"traced_iterations", outcome.traced_iterations},
                                 {"stages", stages_json(outcome.stages)},
                                 {"ranks", ranks_json(outcome.stages)},
                                 {"compression", compression_json(outcome.codecs)},
                                 {"memory", done.memory_bytes},
                                 {"tracing_overhead", nullptr},
                                 {"loss", outcome.loss},
                                 {"dropped_spans", outcome.dropped_spans},
                                 {"interrupted", outcome.interrupted},
                                 {"run", done.run}};
  const engine::GraphCounts& graphs = done.graphs;
  if (graphs.direct + graphs.launched + graphs.overflows > 0) {
    json["graphs"] = {{"launched", graphs.launched},
                      {"without", graphs.direct + graphs.overflows},
                      {"did_not_fit", graphs.overflows}};
  }
  if (done.gpu_traced) {
    json["gpu_traced"] = true;
    for (const char* figure : {"samples_per_s", "iteration_ms", "critical_path_ms"}) {
      json[figure] = nullptr;
    }
  }
  if (outcome.tracing_overhead) json["tracing_overhead"] = interval_json(*outcome.tracing_overhead);
  return json;
}

}  // namespace shardscope::app
