#include "app/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "app/commands/commands.hpp"
#include "app/html_pictures.hpp"
#include "app/inputs.hpp"
#include "app/stage_comparison.hpp"
#include "app/text_table.hpp"
#include "layout/check.hpp"
#include "layout/names.hpp"
#include "planner/cost_model.hpp"
#include "storage/comparisons.hpp"
#include "storage/documents.hpp"
#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"

namespace shardscope::app {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:980px;margin:2em auto;padding:0 1.2em;
color:#1c2330;background:#fff}
h1{font-size:1.7em;margin-bottom:.1em}h2{margin-top:2.2em;border-bottom:1px solid #d5dbe5}
h3{margin:1.4em 0 .4em}table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6em 0}
th,td{padding:.22em .8em;text-align:right;border-bottom:1px solid #e6eaf0}
th{font-weight:600;color:#55606f}th:first-child,td:first-child{text-align:left}
svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#55606f}
.mode{display:inline-block;padding:.05em .6em;border-radius:1em;font-size:.8em;font-weight:700;
color:#fff;background:#2f7ed8}.simulated{background:#8a5fbf}.emulated{background:#c0832f}
.dim{color:#77808d}.legend span{margin-right:1em}.legend i{display:inline-block;width:.8em;
height:.8em;margin-right:.3em;border-radius:2px}.good{color:#2c8a4b}.bad{color:#c0392b}
pre{overflow:auto;background:#f4f6f9;padding:.8em;border-radius:4px}
@media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#161b22}th{color:#9aa6b6}
h2,th,td{border-color:#30394a}pre{background:#1f2632}svg text{fill:#9aa6b6}}
)";

/// A run with everything the page shows of it.
struct ReportedRun {
  storage::RunRecord record;
  StageProfile profile;
  std::optional<Workload> workload;
  std::optional<Topology> topology;
  std::optional<Layout> layout;
  std::optional<Prediction> prediction;
};

template <class T>
std::optional<T> value_of(Result<T> result) {
  if (!result) return std::nullopt;
  return std::move(*result);
}

Result<ReportedRun> read_run(const storage::Session& session, const storage::RunRecord& record) {
  constexpr std::int64_t kMostReportedRanks = 65536;
  const auto stages = storage::run_stages(session, record.id);
  if (!stages) return fail(stages.error());
  ReportedRun run;
  run.record = record;
  const bool sound =
      record.ranks >= 0 && record.ranks <= kMostReportedRanks &&
      std::all_of(stages->totals.begin(), stages->totals.end(), [&](const StageTotals& total) {
        return total.rank >= 0 && total.rank < record.ranks;
      });
  if (!sound) {
    return fail({ErrorKind::runtime, "its spans name ranks that the run does not have",
                 fmt::format("run {}", record.id), "",
                 "The file is damaged; record the run again"});
  }
  run.profile =
      stage_profile(stages->totals, stages->iterations, static_cast<std::int32_t>(record.ranks));
  run.workload = value_of(storage::load_workload(session, record.workload));
  run.topology = value_of(storage::load_topology(session, record.topology));
  run.layout = value_of(storage::load_layout(session, record.layout));
  const bool known = run.workload && run.topology && run.layout && !run.layout->tables.empty();
  if (!known || !check_workload(*run.workload).empty()) return run;
  if (has_errors(check(*run.workload, *run.topology, *run.layout, Executor::engine))) return run;
  PredictOptions options;
  options.executor = parse_name<Executor>(record.executor).value_or(Executor::engine);
  options.schedule = parse_name<ScheduleKind>(record.schedule).value_or(ScheduleKind::serial);
  run.prediction = value_of(predict(*run.workload, *run.topology, *run.layout, options));
  return run;
}

std::string number_text(double value) {
  return std::isfinite(value) ? ms_text(value) : "-";
}

std::string error_cell(double error) {
  if (std::isnan(error)) return "<td>-</td>";
  return fmt::format("<td class=\"{}\">{}</td>", std::abs(error) <= 0.2 ? "good" : "bad",
                     error_text(error));
}

/// Imported traces say in their environment that kernels reduce and update in one.
bool is_fused(const storage::RunRecord& record) {
  const auto json = nlohmann::ordered_json::parse(record.environment_json, nullptr, false);
  if (!json.is_object()) return false;
  const auto fused = json.find("fused_update");
  return fused != json.end() && fused->is_boolean() && fused->get<bool>();
}

std::string stage_table_html(const ReportedRun& run) {
  std::string html =
      "<table><tr><th>stage</th><th>slowest rank, ms</th><th>mean, ms</th><th>waiting, ms</th>"
      "<th>between domains</th>";
  if (run.prediction) html += "<th>predicted, ms</th><th>error</th>";
  html += "</tr>";
  for (const StageComparison& row : compare_stages(
           run.profile, run.prediction ? &*run.prediction : nullptr, is_fused(run.record))) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", row.stage,
                        ms_text(row.measured_max), ms_text(row.measured_mean),
                        ms_text(row.waiting_mean),
                        row.inter_bytes > 0 ? bytes_text(row.inter_bytes) : "-");
    if (run.prediction) {
      html += fmt::format("<td>{}</td>", ms_text(row.predicted_max)) + error_cell(row.error());
    }
    html += "</tr>";
  }
  return html + "</table>";
}

std::string environment_html(const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const std::string shown = json.is_discarded() ? text : json.dump(1);
  return "<details><summary>Environment</summary><pre>" + html_text(shown) + "</pre></details>";
}

std::string run_html(const ReportedRun& run) {
  const storage::RunRecord& record = run.record;
  std::string html = fmt::format(
      "<h2 id=\"run{}\">Run {}: {} <span class=\"mode {}\">{}</span></h2><p>{} on {}, {}, "
      "batch {}, executor {}, {}/{}, schedule {}, seed {}{}</p>",
      record.id, record.id, html_text(record.layout_name), html_text(record.mode),
      html_text(record.mode), html_text(record.workload_name), html_text(record.topology_name),
      counted(record.ranks, "rank"), grouped(record.global_batch), html_text(record.executor),
      html_text(record.backend), html_text(record.comm), html_text(record.schedule),
      html_text(record.seed),
      record.rows_cap > 0 ? fmt::format(", rows capped at {}", grouped(record.rows_cap)) : "");
  if (!record.message.empty()) html += "<p>" + html_text(record.message) + "</p>";
  html += fmt::format(
      "<table><tr><th>iteration, ms</th><th>samples/s</th><th>iterations</th>"
      "<th>predicted, ms</th><th>error</th></tr><tr><td>{}</td><td>{}</td><td>{}"
      "</td>",
      number_text(record.iteration_ms),
      std::isfinite(record.samples_per_s) ? grouped(static_cast<long long>(record.samples_per_s))
                                          : "-",
      grouped(record.iterations));
  if (run.prediction) {
    const double predicted = run.prediction->iteration_s * 1e3;
    html +=
        fmt::format("<td>{} ({} to {}, trust {})</td>", ms_text(predicted),
                    ms_text(run.prediction->low_s * 1e3), ms_text(run.prediction->high_s * 1e3),
                    to_string(run.prediction->trust)) +
        error_cell(record.iteration_ms > 0 ? predicted / record.iteration_ms - 1 : std::nan(""));
  } else {
    html += "<td>-</td><td>-</td>";
  }
  html += "</tr></table><h3>Where the time goes</h3>" + rank_bars_svg(run.profile) +
          stage_legend_html(run.profile) + stage_table_html(run);
  if (run.workload && run.layout && !run.layout->tables.empty()) {
    html += "<h3>Layout " + html_text(run.layout->name) + "</h3>" +
            layout_svg(*run.workload, *run.layout);
  }
  return html + environment_html(record.environment_json);
}

std::string comparison_html(const storage::ComparisonRecord& one) {
  return fmt::format(
             "<h2>{} with {} <span class=\"mode {}\">{}</span></h2><p><b>{}</b></p><p>B / A = "
             "{:.3f}, {:.3f} to {:.3f} at {:.0f} %, {} of blocks. A is <a "
             "href=\"#run{}\">run "
             "{}</a>, B <a href=\"#run{}\">run {}</a>.</p>",
             html_text(one.label_a), html_text(one.label_b), html_text(one.mode),
             html_text(one.mode), html_text(one.sentence), one.ratio, one.low, one.high,
             one.confidence * 100, counted(one.blocks, "pair"), one.run_a, one.run_a, one.run_b,
             one.run_b) +
         interval_svg(one.ratio, one.low, one.high);
}

std::string overview_html(const std::vector<ReportedRun>& runs) {
  std::string html =
      "<table><tr><th>run</th><th>mode</th><th>layout</th><th>iteration, ms</th>"
      "<th>predicted, ms</th></tr>";
  for (const ReportedRun& run : runs) {
    html += fmt::format(
        "<tr><td><a href=\"#run{0}\">{0}</a></td><td>{1}</td><td>{2}</td><td>{3}</td><td>{4}</td>"
        "</tr>",
        run.record.id, html_text(run.record.mode), html_text(run.record.layout_name),
        number_text(run.record.iteration_ms),
        run.prediction ? ms_text(run.prediction->iteration_s * 1e3) : "-");
  }
  return html + "</table>";
}

std::string page(const std::string& session, const std::vector<ReportedRun>& runs,
                 const std::vector<storage::ComparisonRecord>& comparisons) {
  const std::size_t slash = session.rfind('/');
  const std::string name =
      html_text(slash == std::string::npos ? session : session.substr(slash + 1));
  std::string html =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
      "name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>" +
      name + "</title><style>" + kStyle + "</style><h1>" + name +
      "</h1><p class=\"dim\">Shardscope report: measured, emulated and simulated "
      "times are marked; predictions stand beside them.</p>";
  if (runs.empty()) html += "<p>The session has no runs.</p>";
  if (runs.size() > 1) html += overview_html(runs);
  for (const storage::ComparisonRecord& one : comparisons) html += comparison_html(one);
  for (const ReportedRun& run : runs) html += run_html(run);
  return html + "</html>\n";
}

}  // namespace

Status report_command(const ReportOptions& options) {
  auto session = storage::Session::open(options.session, storage::Session::Access::read_only);
  if (!session) return fail(session.error());
  const auto records = storage::list_runs(*session);
  if (!records) return fail(records.error());
  const auto comparisons = storage::list_comparisons(*session);
  if (!comparisons) return fail(comparisons.error());
  if (options.run > 0) {
    if (const auto asked = storage::find_run(*session, options.run); !asked)
      return fail(asked.error());
  }
  std::vector<ReportedRun> runs;
  for (const storage::RunRecord& record : *records) {
    if (options.run > 0 && record.id != options.run) continue;
    auto run = read_run(*session, record);
    if (!run) return fail(run.error());
    runs.push_back(std::move(*run));
  }
  const std::string html = page(options.session, runs, *comparisons);
  if (Status written = write_text_file(options.out, html, "the report"); !written) return written;
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"file", options.out}, {"runs", runs.size()}, {"comparisons", comparisons->size()}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("wrote  {}  ({}, {})\n", options.out,
               counted(static_cast<long long>(runs.size()), "run"),
               counted(static_cast<long long>(comparisons->size()), "comparison"));
  }
  return {};
}

}  // namespace shardscope::app
