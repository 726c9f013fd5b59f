#include "app/session_contents.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/report.hpp"
#include "layout/json.hpp"
#include "storage/queries/codecs.hpp"
#include "storage/queries/stages.hpp"

namespace shardscope::app {
namespace {

constexpr std::int64_t kMostRanks = 65536;

/// Ranks of the run's spans; a damaged file may hold any number.
Result<std::int32_t> ranks_of(const storage::RunRecord& record,
                              const std::vector<StageTotals>& totals) {
  std::int64_t ranks = record.ranks;
  bool sound = ranks >= 0 && ranks <= kMostRanks;
  for (const StageTotals& total : totals) sound = sound && total.rank >= 0 && total.rank < ranks;
  if (sound) return static_cast<std::int32_t>(ranks);
  return fail({ErrorKind::runtime, "its spans name ranks that the run does not have",
               fmt::format("run {}", record.id), fmt::format("0 to {}", ranks - 1),
               "The file is damaged; record the run again"});
}

Result<RunContents> inspect_run(const storage::Session& session, const storage::RunRecord& record) {
  const Result<storage::RunStages> stages = storage::run_stages(session, record.id);
  if (!stages) return fail(stages.error());
  const auto curve = storage::load_curve(session, record.id);
  if (!curve) return fail(curve.error());
  auto codecs = storage::run_codecs(session, record.id);
  if (!codecs) return fail(codecs.error());
  const Result<std::int32_t> ranks = ranks_of(record, stages->totals);
  if (!ranks) return fail(ranks.error());
  return RunContents{record, stage_profile(stages->totals, stages->iterations, *ranks),
                     std::move(*codecs), *curve};
}

nlohmann::ordered_json run_json(const RunContents& inspected) {
  const storage::RunRecord& run = inspected.record;
  nlohmann::ordered_json json = {{"run", run.id},
                                 {"mode", run.mode},
                                 {"executor", run.executor},
                                 {"backend", run.backend},
                                 {"comm", run.comm},
                                 {"wire", run.wire},
                                 {"schedule", run.schedule},
                                 {"seed", run.seed},
                                 {"workload", run.workload_name},
                                 {"topology", run.topology_name},
                                 {"layout", run.layout_name},
                                 {"ranks", run.ranks},
                                 {"global_batch", run.global_batch},
                                 {"rows_cap", run.rows_cap},
                                 {"state", state_of(run)},
                                 {"message", run.message},
                                 {"samples_per_s", run.samples_per_s},
                                 {"iteration_ms", run.iteration_ms},
                                 {"critical_path_ms", run.critical_path_ms},
                                 {"tracing_overhead", run.tracing_overhead},
                                 {"iterations", run.iterations},
                                 {"traced_iterations", run.traced_iterations},
                                 {"spans", run.spans},
                                 {"dropped", run.dropped},
                                 {"stages", stages_json(inspected.stages)},
                                 {"ranks_stages", ranks_json(inspected.stages)},
                                 {"compression", compression_json(inspected.codecs)},
                                 {"curve", nlohmann::ordered_json::array()}};
  for (const storage::CurvePoint& point : inspected.curve) {
    json["curve"].push_back({{"split", point.split},
                             {"iteration", point.iteration},
                             {"samples", point.samples},
                             {"loss", point.loss},
                             {"auc", point.auc}});
  }
  return json;
}

}  // namespace

Result<SessionContents> read_contents(const storage::Session& session, std::int64_t only_run) {
  SessionContents inspected;
  std::vector<storage::RunRecord> records;
  if (only_run > 0) {
    const auto record = storage::find_run(session, only_run);
    if (!record) return fail(record.error());
    records = {*record};
  } else {
    const auto all = storage::list_runs(session);
    if (!all) return fail(all.error());
    records = *all;
  }
  for (const storage::RunRecord& record : records) {
    auto run = inspect_run(session, record);
    if (!run) return fail(run.error());
    inspected.runs.push_back(std::move(*run));
  }
  if (only_run == 0) {
    const auto comparisons = storage::list_comparisons(session);
    if (!comparisons) return fail(comparisons.error());
    inspected.comparisons = *comparisons;
    auto statistics = storage::list_table_stats(session);
    if (!statistics) return fail(statistics.error());
    inspected.statistics = std::move(*statistics);
  }
  return inspected;
}

std::string state_of(const storage::RunRecord& run) {
  if (!run.ended) return "unfinished";
  return run.complete ? "complete" : "stopped";
}

nlohmann::ordered_json contents_json(const std::string& path, const SessionContents& inspected) {
  nlohmann::ordered_json json = {{"session", path},
                                 {"runs", nlohmann::ordered_json::array()},
                                 {"comparisons", nlohmann::ordered_json::array()}};
  for (const RunContents& run : inspected.runs) json["runs"].push_back(run_json(run));
  for (const storage::ComparisonRecord& one : inspected.comparisons) {
    json["comparisons"].push_back({{"a", one.label_a},
                                   {"b", one.label_b},
                                   {"run_a", one.run_a},
                                   {"run_b", one.run_b},
                                   {"mode", one.mode},
                                   {"ratio", one.ratio},
                                   {"low", one.low},
                                   {"high", one.high},
                                   {"confidence", one.confidence},
                                   {"pairs", one.blocks},
                                   {"reason", one.reason},
                                   {"sentence", one.sentence}});
  }
  for (const storage::StatisticsRecord& one : inspected.statistics) {
    nlohmann::ordered_json tables = nlohmann::ordered_json::array();
    for (const TableStats& stats : one.tables) {
      tables.push_back(nlohmann::ordered_json::parse(to_json(stats)));
    }
    json["statistics"].push_back(
        {{"workload", one.workload}, {"source", one.source}, {"tables", std::move(tables)}});
  }
  return json;
}

}  // namespace shardscope::app
