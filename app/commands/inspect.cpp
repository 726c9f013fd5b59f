#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/import_report.hpp"
#include "app/report.hpp"
#include "app/session_contents.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

std::string utc_text(std::int64_t utc_ns) {
  const std::time_t seconds = utc_ns / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  return text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

std::string figure(double value, const std::string& text) {
  return std::isnan(value) ? "-" : text;
}

void print_runs(const std::vector<RunContents>& runs) {
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
  for (const auto& [run, stages, codecs, curve] : runs) {
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

void print_run(const RunContents& inspected) {
  const Console console = Console::of_stdout();
  const storage::RunRecord& run = inspected.record;
  fmt::print("\n{}  {}  {} UTC, {}/{}{}, schedule {}, seed {}, executor {}\n",
             console.bold(fmt::format("Run {}", run.id)), upper(run.mode),
             utc_text(run.start_utc_ns), run.backend, run.comm,
             run.wire.empty() ? "" : fmt::format(", wire {} GB/s", run.wire), run.schedule,
             run.seed, run.executor);
  if (!run.message.empty()) fmt::print("{}\n", run.message);
  if (!std::isnan(run.critical_path_ms) && run.critical_path_ms > 0) {
    fmt::print("critical path {} ms{}\n", ms_text(run.critical_path_ms),
               std::isnan(run.tracing_overhead)
                   ? ""
                   : fmt::format(", tracing costs {:+.2f} %", run.tracing_overhead * 100));
  }
  if (run.dropped > 0) {
    fmt::print("{} lost on the way to the session\n", counted(run.dropped, "record"));
  }
  if (inspected.stages.iterations > 0) {
    fmt::print("\n{}\n{}", stage_table_text(inspected.stages),
               rank_bars_text(inspected.stages, std::min(console.width - 30, 60)));
  }
  if (!inspected.codecs.empty()) fmt::print("\n{}", codec_table_text(inspected.codecs));
  if (!inspected.curve.empty()) print_curve(inspected.curve);
}

void print_comparisons(const std::vector<storage::ComparisonRecord>& comparisons) {
  for (const storage::ComparisonRecord& one : comparisons) {
    fmt::print("\nComparison {}  {}  {} (run {}) with {} (run {})\n", one.id, upper(one.mode),
               one.label_a, one.run_a, one.label_b, one.run_b);
    fmt::print("B/A = {:.3f}  ({:.3f} to {:.3f}, {:.0f} %)  {} of blocks, ended by {}\n{}\n",
               one.ratio, one.low, one.high, one.confidence * 100, counted(one.blocks, "pair"),
               one.reason, one.sentence);
  }
}

void print_statistics(const std::vector<storage::StatisticsRecord>& statistics) {
  for (const storage::StatisticsRecord& one : statistics) {
    fmt::print("\nStatistics of {} ({})\n", one.workload, one.source);
    TextTable table(
        {{"table", Align::left}, {"ids a bag"}, {"ids"}, {"working set"}, {"untouched"}});
    for (const TableStats& stats : one.tables) {
      table.row({stats.table, fmt::format("{:.3g}", stats.mean_bag_length), grouped(stats.keys),
                 grouped(stats.working_set_rows), grouped(stats.untouched_rows)});
    }
    fmt::print("{}", table.text());
  }
}

}  // namespace

Status inspect(const InspectOptions& options) {
  // Plans, reports and traces open directly, as import reads them; nothing is kept.
  if (!storage::is_session_file(options.session)) {
    const auto kind = storage::recognise(options.session);
    if (!kind) {
      return fail(
          {kind.error().kind, kind.error().what, options.session,
           "a session, or a file of a kind that import reads (" + storage::import_kinds() + ")",
           "'shardscope import --from KIND' reads it as that kind"});
    }
    return inspect_import(options.session, *kind, options.json);
  }
  Result<storage::Session> session =
      storage::Session::open(options.session, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  const Result<SessionContents> contents = read_contents(*session, options.run);
  if (!contents) return fail(contents.error());
  if (options.json) {
    fmt::print("{}\n", contents_json(options.session, *contents).dump(2));
    return {};
  }
  if (contents->runs.empty()) {
    fmt::print("{} has no runs.\n", options.session);
  } else {
    print_runs(contents->runs);
  }
  for (const RunContents& run : contents->runs) print_run(run);
  print_comparisons(contents->comparisons);
  print_statistics(contents->statistics);
  return {};
}

}  // namespace shardscope::app
