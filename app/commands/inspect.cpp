#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/report.hpp"
#include "app/text_table.hpp"
#include "storage/comparisons.hpp"
#include "storage/curves.hpp"
#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"
#include "storage/session.hpp"

namespace shardscope::app {
namespace {

constexpr std::int64_t kMostRanks = 65536;

/// What inspect shows of one run.
struct InspectedRun {
  storage::RunRecord record;
  StageProfile stages;
  std::vector<storage::CurvePoint> curve;
};

struct Inspected {
  std::vector<InspectedRun> runs;
  std::vector<storage::ComparisonRecord> comparisons;
};

std::string utc_text(std::int64_t utc_ns) {
  const std::time_t seconds = utc_ns / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  return text;
}

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

Result<InspectedRun> inspect_run(const storage::Session& session,
                                 const storage::RunRecord& record) {
  const Result<storage::RunStages> stages = storage::run_stages(session, record.id);
  if (!stages) return fail(stages.error());
  const auto curve = storage::load_curve(session, record.id);
  if (!curve) return fail(curve.error());
  const Result<std::int32_t> ranks = ranks_of(record, stages->totals);
  if (!ranks) return fail(ranks.error());
  return InspectedRun{record, stage_profile(stages->totals, stages->iterations, *ranks), *curve};
}

Result<Inspected> read_session(const storage::Session& session, std::int64_t only_run) {
  Inspected inspected;
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
  }
  return inspected;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string state_of(const storage::RunRecord& run) {
  if (!run.ended) return "unfinished";
  return run.complete ? "complete" : "stopped";
}

std::string figure(double value, const std::string& text) {
  return std::isnan(value) ? "-" : text;
}

void print_runs(const std::vector<InspectedRun>& runs) {
  TextTable table({{"run"},
                   {"mode", Align::left},
                   {"layout", Align::left},
                   {"workload", Align::left},
                   {"topology", Align::left},
                   {"ranks"},
                   {"batch"},
                   {"rows cap"},
                   {"ms/iteration"},
                   {"samples/s"},
                   {"iterations"},
                   {"state", Align::left}});
  for (const auto& [run, stages, curve] : runs) {
    table.row({std::to_string(run.id), upper(run.mode), run.layout_name, run.workload_name,
               run.topology_name, std::to_string(run.ranks), grouped(run.global_batch),
               run.rows_cap > 0 ? grouped(run.rows_cap) : "-",
               figure(run.iteration_ms, ms_text(run.iteration_ms)),
               figure(run.samples_per_s, std::isnan(run.samples_per_s)
                                             ? ""
                                             : grouped(static_cast<long long>(run.samples_per_s))),
               grouped(run.iterations), state_of(run)});
  }
  fmt::print("{}", table.text());
}

void print_curve(const std::vector<storage::CurvePoint>& curve) {
  TextTable table({{"iteration"}, {"samples"}, {"split", Align::left}, {"loss"}, {"AUC"}});
  for (const storage::CurvePoint& point : curve) {
    table.row({grouped(point.iteration), grouped(point.samples), point.split,
               figure(point.loss, fmt::format("{:.5f}", point.loss)),
               figure(point.auc, fmt::format("{:.5f}", point.auc))});
  }
  fmt::print("\n{}", table.text());
}

void print_run(const InspectedRun& inspected) {
  const Console console = Console::of_stdout();
  const storage::RunRecord& run = inspected.record;
  fmt::print("\n{}  {}  {} UTC, {}/{}{}, schedule {}, seed {}, executor {}\n",
             console.bold(fmt::format("Run {}", run.id)), upper(run.mode),
             utc_text(run.start_utc_ns), run.backend, run.comm,
             run.wire.empty() ? "" : fmt::format(", wire {} GB/s", run.wire), run.schedule,
             run.seed, run.executor);
  if (!run.message.empty()) fmt::print("{}\n", run.message);
  if (!std::isnan(run.critical_path_ms) && run.critical_path_ms > 0) {
    fmt::print("critical path {} ms, tracing costs {:+.2f} %\n", ms_text(run.critical_path_ms),
               run.tracing_overhead * 100);
  }
  if (run.dropped > 0) fmt::print("{} records were lost\n", grouped(run.dropped));
  if (inspected.stages.iterations > 0) {
    fmt::print("\n{}\n{}", stage_table_text(inspected.stages),
               rank_bars_text(inspected.stages, std::min(console.width - 30, 60)));
  }
  if (!inspected.curve.empty()) print_curve(inspected.curve);
}

void print_comparisons(const std::vector<storage::ComparisonRecord>& comparisons) {
  for (const storage::ComparisonRecord& one : comparisons) {
    fmt::print("\nComparison {}  {}  {} (run {}) with {} (run {})\n", one.id, upper(one.mode),
               one.label_a, one.run_a, one.label_b, one.run_b);
    fmt::print("B/A = {:.3f}  ({:.3f} to {:.3f}, {:.0f} %)  {} pairs of blocks, ended by {}\n{}\n",
               one.ratio, one.low, one.high, one.confidence * 100, one.blocks, one.reason,
               one.sentence);
  }
}

nlohmann::ordered_json run_json(const InspectedRun& inspected) {
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

nlohmann::ordered_json session_json(const std::string& path, const Inspected& inspected) {
  nlohmann::ordered_json json = {{"session", path},
                                 {"runs", nlohmann::ordered_json::array()},
                                 {"comparisons", nlohmann::ordered_json::array()}};
  for (const InspectedRun& run : inspected.runs) json["runs"].push_back(run_json(run));
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
  return json;
}

}  // namespace

Status inspect(const InspectOptions& options) {
  Result<storage::Session> session =
      storage::Session::open(options.session, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  const Result<Inspected> inspected = read_session(*session, options.run);
  if (!inspected) return fail(inspected.error());
  if (options.json) {
    fmt::print("{}\n", session_json(options.session, *inspected).dump(2));
    return {};
  }
  if (inspected->runs.empty()) {
    fmt::print("{} has no runs.\n", options.session);
    return {};
  }
  print_runs(inspected->runs);
  for (const InspectedRun& run : inspected->runs) print_run(run);
  print_comparisons(inspected->comparisons);
  return {};
}

}  // namespace shardscope::app
