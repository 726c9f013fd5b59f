#include "planner/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/inputs.hpp"
#include "app/interrupt.hpp"
#include "app/progress.hpp"
#include "app/recorded_stats.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "layout/names.hpp"

namespace shardscope::app {
namespace {

template <class E>
Result<std::vector<E>> named_values(const std::vector<std::string>& texts, const char* option) {
  std::vector<E> values;
  for (const std::string& text : texts) {
    const auto value = parse_name<E>(text);
    if (!value)
      return fail({ErrorKind::usage, fmt::format("'{}' is not a value", text), option,
                   choices_of<E>(), ""});
    values.push_back(*value);
  }
  return values;
}

Result<SweepAxes> axes_of(const SweepOptions& options) {
  SweepAxes axes{.nodes = options.nodes, .batches = options.batches, .planners = options.planners};
  const auto optimizers = named_values<OptimizerKind>(options.optimizers, "--optimizer");
  if (!optimizers) return fail(optimizers.error());
  const auto dtypes = named_values<DType>(options.dtypes, "--dtype");
  if (!dtypes) return fail(dtypes.error());
  const auto wires = named_values<DType>(options.wires, "--wire-dtype");
  if (!wires) return fail(wires.error());
  axes.optimizers = *optimizers;
  axes.dtypes = *dtypes;
  axes.wires = *wires;
  return axes;
}

std::string quoted(const std::string& text) {
  std::string out(1, '"');
  for (const char letter : text) {
    if (letter == '"') out.push_back('"');
    out.push_back(letter);
  }
  out.push_back('"');
  return out;
}

constexpr const char* kCsvHeader =
    "nodes,gpus,batch,planner,optimizer,dtype,wire,fits,predicted_ms,low_ms,high_ms,samples_per_s,"
    "lower_bound_ms,gap,memory_bytes,trust,plan_seconds,reason\n";

std::string csv_line(const SweepRow& row) {
  const SweepCase& what = row.what;
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},", what.nodes, what.gpus, what.batch, what.planner,
                  what.optimizer, what.dtype, to_string(what.wire), row.fits ? 1 : 0);
  line += row.fits ? fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},{:.0f},{},",
                                 row.predicted_s * 1e3, row.low_s * 1e3, row.high_s * 1e3,
                                 row.samples_per_s, row.lower_bound_s * 1e3, row.gap,
                                 row.memory_bytes, row.trust)
                   : std::string(",,,,,,,,");
  return line + fmt::format("{:.3f},{}\n", row.seconds, row.fits ? "" : quoted(row.why_not));
}

nlohmann::ordered_json row_json(const SweepRow& row) {
  const SweepCase& what = row.what;
  nlohmann::ordered_json json = {{"nodes", what.nodes},          {"gpus", what.gpus},
                                 {"batch", what.batch},          {"planner", what.planner},
                                 {"optimizer", what.optimizer},  {"dtype", what.dtype},
                                 {"wire", to_string(what.wire)}, {"fits", row.fits},
                                 {"plan_seconds", row.seconds}};
  if (!row.fits) {
    json["reason"] = row.why_not;
    return json;
  }
  json["predicted_ms"] = row.predicted_s * 1e3;
  json["interval_ms"] = {row.low_s * 1e3, row.high_s * 1e3};
  json["samples_per_s"] = row.samples_per_s;
  json["lower_bound_ms"] = row.lower_bound_s * 1e3;
  json["gap"] = row.gap;
  json["memory_bytes"] = row.memory_bytes;
  json["trust"] = row.trust;
  return json;
}

std::string table_text_of(const std::vector<SweepRow>& rows) {
  TextTable table({{"nodes"},
                   {"GPUs"},
                   {"batch"},
                   {"planner", Align::left},
                   {"optimizer", Align::left},
                   {"dtype", Align::left},
                   {"wire", Align::left},
                   {"ms"},
                   {"90 % from"},
                   {"to"},
                   {"samples/s"},
                   {"gap"},
                   {"fullest GPU"},
                   {"trust", Align::left}});
  for (const SweepRow& row : rows) {
    const SweepCase& what = row.what;
    std::vector<std::string> cells = {std::to_string(what.nodes),
                                      std::to_string(what.gpus),
                                      grouped(what.batch),
                                      what.planner,
                                      what.optimizer,
                                      what.dtype,
                                      to_string(what.wire)};
    if (row.fits) {
      for (const std::string& cell :
           {ms_text(row.predicted_s * 1e3), ms_text(row.low_s * 1e3), ms_text(row.high_s * 1e3),
            grouped(static_cast<long long>(row.samples_per_s)),
            fmt::format("{:.1f} %", row.gap * 100), bytes_text(row.memory_bytes), row.trust})
        cells.push_back(cell);
    } else {
      for (int i = 0; i < 6; ++i) cells.emplace_back("-");
      cells.push_back("does not fit");
    }
    table.row(std::move(cells));
  }
  return table.text();
}

void print_reasons(const std::vector<SweepRow>& rows) {
  std::vector<std::string> said;
  for (const SweepRow& row : rows) {
    if (row.fits || std::find(said.begin(), said.end(), row.why_not) != said.end()) continue;
    if (said.empty()) fmt::print("\n");
    said.push_back(row.why_not);
    fmt::print("{}, batch {}, {}: {}\n", counted(row.what.nodes, "node"), grouped(row.what.batch),
               row.what.planner, row.why_not);
  }
}

std::string case_text(const SweepRow& row) {
  return fmt::format("{}, batch {}, {}: {}", counted(row.what.nodes, "node"),
                     grouped(row.what.batch), row.what.planner,
                     row.fits ? ms_text(row.predicted_s * 1e3) + " ms" : "does not fit");
}

}  // namespace

Status sweep_command(const SweepOptions& options) {
  Interrupt interrupt;
  const Result<Inputs> inputs = load_inputs(options.inputs);
  if (!inputs) return fail(inputs.error());
  const Result<SweepAxes> axes = axes_of(options);
  if (!axes) return fail(axes.error());
  const PredictOptions how = measured_options(*inputs, options.how);
  std::ofstream csv;
  const auto unwritten = [&] { return !options.csv.empty() && !csv; };
  const Error unwritable{ErrorKind::runtime, "the CSV cannot be written", options.csv, "",
                         "Choose a folder that exists, that you may write and that has room"};
  if (!options.csv.empty()) {
    csv.open(options.csv);
    csv << kCsvHeader << std::flush;
    if (unwritten()) return fail(unwritable);
  }
  Progress progress("sweep");
  std::vector<SweepRow> rows;
  const auto all = static_cast<double>(sweep_size(*axes));
  const Result<std::size_t> done = sweep(
      inputs->workload, inputs->topology, how, *axes,
      [&](const SweepRow& row) {
        rows.push_back(row);
        // Flushed row by row: what is in the file stays, whatever comes.
        if (csv.is_open()) csv << csv_line(row) << std::flush;
        progress.update(static_cast<double>(rows.size()) / all, case_text(row));
      },
      [&] { return !interrupt.requested() && !unwritten(); });
  progress.finish();
  if (unwritten()) return fail(unwritable);
  if (!done) return fail(done.error());
  const bool stopped = rows.size() < sweep_size(*axes);
  if (options.json) {
    nlohmann::ordered_json json = {
        {"mode", to_string(Mode::simulated)},     {"workload", inputs->workload.name},
        {"rows_cap", inputs->workload.rows_cap},  {"executor", to_string(how.executor)},
        {"schedule", to_string(how.schedule)},    {"stopped_early", stopped},
        {"rows", nlohmann::ordered_json::array()}};
    for (const SweepRow& row : rows) json["rows"].push_back(row_json(row));
    fmt::print("{}\n", json.dump(2));
  } else {
    const Console console = Console::of_stdout();
    fmt::print("{}  {} on {}, executor {}, schedule {}{}\n\n{}",
               console.bold(mode_word(Mode::simulated)), inputs->workload.name,
               inputs->topology.gpu.name, to_string(how.executor), to_string(how.schedule),
               stopped ? fmt::format(" (stopped early: {} of {} combinations)", rows.size(),
                                     sweep_size(*axes))
                       : "",
               table_text_of(rows));
    print_reasons(rows);
    if (!options.csv.empty()) fmt::print("\nCSV: {}\n", options.csv);
  }
  if (rows.empty())
    return fail(
        {ErrorKind::runtime, "stopped before the first combination was planned", "sweep", "", ""});
  return {};
}

}  // namespace shardscope::app
