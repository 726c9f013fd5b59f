#include "app/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/text_table.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kGpusShown = 8;
constexpr std::size_t kNamesShown = 5;
constexpr std::size_t kMovesShown = 12;

const std::string& table_name(const Inputs& inputs, std::int32_t table) {
  return inputs.workload.tables[static_cast<std::size_t>(table)].name;
}

std::string short_list_text(const Inputs& inputs, const std::vector<std::int32_t>& tables) {
  std::string text;
  for (std::size_t i = 0; i < tables.size() && i < kNamesShown; ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "", table_name(inputs, tables[i]));
  if (tables.size() > kNamesShown) text += fmt::format(" and {} more", tables.size() - kNamesShown);
  return text;
}

std::string tables_text(const Inputs& inputs, const std::vector<TableBytes>& tables) {
  std::string text;
  for (std::size_t i = 0; i < tables.size() && i < kNamesShown; ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", table_name(inputs, tables[i].table),
                        bytes_text(tables[i].bytes));
  if (tables.size() > kNamesShown) text += fmt::format(" and {} more", tables.size() - kNamesShown);
  return text;
}

nlohmann::ordered_json tables_json(const Inputs& inputs, const std::vector<TableBytes>& tables) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const TableBytes& one : tables)
    json.push_back({{"table", table_name(inputs, one.table)}, {"bytes", one.bytes}});
  return json;
}

std::string bound_text(bool table_bound) {
  return table_bound ? "table-bound: even one sample a GPU does not fit"
                     : "batch-bound: the tables fit, the buffers of this batch do not";
}

std::string relief_text(const Inputs& inputs, const ReliefEffect& effect) {
  const auto tables = [&] { return counted(effect.amount, "table"); };
  switch (effect.relief) {
    case Relief::smaller_batch:
      return fmt::format("batch {} instead of {}", grouped(effect.amount),
                         grouped(inputs.workload.global_batch));
    case Relief::wire_16_bit:
      return "fp16 on the wire";
    case Relief::half_weights:
      return fmt::format("fp16 weights, {}", tables());
    case Relief::rowwise_state:
      return fmt::format("row-wise adagrad, {}", tables());
    case Relief::no_state:
      return fmt::format("plain SGD, {}", tables());
    case Relief::half_and_state:
      return fmt::format("fp16 weights and row-wise adagrad, {}", tables());
    case Relief::more_hosts:
      if (effect.amount == 0) return "more of these hosts";
      return fmt::format("{} hosts of {} GPU{} instead of {}", effect.amount,
                         inputs.topology.gpus_per_host,
                         inputs.topology.gpus_per_host == 1 ? "" : "s", inputs.topology.hosts);
  }
  return "";
}

std::string verdict_text(const Inputs& inputs, const ReliefEffect& effect) {
  if (!effect.legal) return fmt::format("no: {}", effect.why_not);
  if (!effect.fits)
    return effect.relief == Relief::more_hosts ? "no: no number of them up to 1,024" : "no";
  if (effect.enough.empty()) return "yes";
  return fmt::format("yes; {} enough: {}",
                     effect.enough.size() == 1
                         ? std::string("one is")
                         : fmt::format("the {} largest are", effect.enough.size()),
                     short_list_text(inputs, effect.enough));
}

std::string least_text(const Inputs& inputs, const ReliefEffect& effect) {
  if (effect.enough.empty()) return relief_text(inputs, effect);
  ReliefEffect some = effect;
  some.amount = static_cast<std::int64_t>(effect.enough.size());
  return fmt::format("{} ({})", relief_text(inputs, some), short_list_text(inputs, effect.enough));
}

}  // namespace

std::string shortage_text(const Inputs& inputs, const LayoutShortage& found) {
  std::string text =
      fmt::format("{} of {} hold{} more than {} {}\n", found.gpus.size(),
                  counted(inputs.topology.ranks(), "GPU"), found.gpus.size() == 1 ? "s" : "",
                  found.gpus.size() == 1 ? "its" : "their", bytes_text(found.capacity_bytes));
  TextTable table({{"GPU"}, {"short"}, {"largest there", Align::left}});
  for (std::size_t i = 0; i < found.gpus.size() && i < kGpusShown; ++i) {
    const CrowdedGpu& gpu = found.gpus[i];
    table.row(
        {std::to_string(gpu.rank), bytes_text(gpu.short_bytes), tables_text(inputs, gpu.largest)});
  }
  text += table.text(2);
  if (found.gpus.size() > kGpusShown)
    text += fmt::format("  and {} more\n", found.gpus.size() - kGpusShown);
  text += fmt::format("  {}", bound_text(found.table_bound));
  if (!found.table_bound)
    text += fmt::format("; this layout holds a batch of {}", grouped(found.largest_batch));
  text += "\n";
  if (found.moves.empty()) return text + "  No moves were found that make this layout fit.\n";
  text += fmt::format("Moves that make it fit ({})\n", found.moves.size());
  for (std::size_t i = 0; i < found.moves.size() && i < kMovesShown; ++i)
    text += fmt::format("  {}\n", found.moves[i]);
  if (found.moves.size() > kMovesShown)
    text += fmt::format("  and {} more\n", found.moves.size() - kMovesShown);
  return text;
}

nlohmann::ordered_json shortage_json(const Inputs& inputs, const LayoutShortage& found) {
  nlohmann::ordered_json json = {{"capacity_bytes", found.capacity_bytes},
                                 {"bound", found.table_bound ? "table" : "batch"},
                                 {"largest_batch", found.largest_batch},
                                 {"gpus", nlohmann::ordered_json::array()},
                                 {"moves", found.moves}};
  for (const CrowdedGpu& gpu : found.gpus)
    json["gpus"].push_back({{"rank", gpu.rank},
                            {"short_bytes", gpu.short_bytes},
                            {"largest", tables_json(inputs, gpu.largest)}});
  return json;
}

std::string shortage_text(const Inputs& inputs, const Shortage& found) {
  std::string text = fmt::format(
      "No layout was found that fits: a GPU needs {} of {} in the evenest spread, {} short\n",
      bytes_text(found.needed_bytes), bytes_text(found.capacity_bytes),
      bytes_text(found.short_bytes));
  text += fmt::format("  {}\n", bound_text(found.table_bound));
  text += fmt::format("  tables  {} of weights and state; largest {}\n",
                      bytes_text(found.table_bytes), tables_text(inputs, found.largest));
  text +=
      fmt::format("  fixed   {} on every GPU whatever the layout (dense part, outputs, reserve)\n",
                  bytes_text(found.fixed_bytes));
  if (!found.left_over.empty())
    text += fmt::format("  no room for {}\n", tables_text(inputs, found.left_over));
  TextTable table({{"change", Align::left}, {"a GPU needs"}, {"frees"}, {"fits", Align::left}});
  for (const ReliefEffect& effect : found.reliefs)
    table.row(
        {relief_text(inputs, effect),
         std::isfinite(effect.needed_bytes) ? bytes_text(effect.needed_bytes) : "-",
         std::isfinite(effect.freed_bytes) ? bytes_text(std::max(0.0, effect.freed_bytes)) : "-",
         verdict_text(inputs, effect)});
  text.push_back('\n');
  text += table.text(2);
  return text + fmt::format("\nLeast change that fits: {}\n",
                            found.least ? least_text(inputs, found.reliefs[*found.least])
                                        : "none of these alone");
}

nlohmann::ordered_json shortage_json(const Inputs& inputs, const Shortage& found) {
  nlohmann::ordered_json json = {{"capacity_bytes", found.capacity_bytes},
                                 {"needed_bytes", found.needed_bytes},
                                 {"short_bytes", found.short_bytes},
                                 {"table_bytes", found.table_bytes},
                                 {"fixed_bytes", found.fixed_bytes},
                                 {"bound", found.table_bound ? "table" : "batch"},
                                 {"largest", tables_json(inputs, found.largest)},
                                 {"left_over", tables_json(inputs, found.left_over)},
                                 {"fewest_hosts", nullptr},
                                 {"fewest_gpus", nullptr},
                                 {"changes", nlohmann::ordered_json::array()},
                                 {"least", nullptr}};
  for (const ReliefEffect& effect : found.reliefs) {
    nlohmann::ordered_json one = {{"change", to_string(effect.relief)},
                                  {"text", relief_text(inputs, effect)},
                                  {"fits", effect.fits},
                                  {"legal", effect.legal},
                                  {"amount", effect.amount},
                                  {"needed_bytes", effect.needed_bytes},
                                  {"freed_bytes", effect.freed_bytes},
                                  {"enough", nlohmann::ordered_json::array()}};
    if (!effect.legal) one["why_not"] = effect.why_not;
    for (const std::int32_t t : effect.enough) one["enough"].push_back(table_name(inputs, t));
    json["changes"].push_back(std::move(one));
    if (effect.relief != Relief::more_hosts || !effect.fits) continue;
    json["fewest_hosts"] = effect.amount;
    json["fewest_gpus"] = effect.amount * inputs.topology.gpus_per_host;
  }
  if (found.least) json["least"] = least_text(inputs, found.reliefs[*found.least]);
  return json;
}

Status report_misfit(const Inputs& inputs, const PredictOptions& how, const Layout* layout,
                     bool json, Error error) {
  if (error.kind != ErrorKind::infeasible) return fail(std::move(error));
  std::optional<LayoutShortage> here;
  if (layout != nullptr) {
    const std::vector<Violation> violations =
        check(inputs.workload, inputs.topology, *layout, how.executor);
    const bool memory_alone =
        std::all_of(violations.begin(), violations.end(), [](const Violation& one) {
          return one.severity == Severity::warning || one.rule.starts_with("memory.");
        });
    if (memory_alone) here = find_layout_shortage(inputs.workload, inputs.topology, *layout, how);
  }
  std::optional<Shortage> any;
  if (layout == nullptr || here) any = find_shortage(inputs.workload, inputs.topology, how);
  if (json) {
    nlohmann::ordered_json out = {{"fits", false}, {"error", to_string(error)}};
    if (here) out["layout_shortage"] = shortage_json(inputs, *here);
    out["shortage"] = any ? shortage_json(inputs, *any) : nlohmann::ordered_json();
    fmt::print("{}\n", out.dump(2));
  } else {
    if (here) fmt::print("{}", shortage_text(inputs, *here));
    if (any) fmt::print("{}{}", here ? "\n" : "", shortage_text(inputs, *any));
    if (here && !any) fmt::print("Other layouts of this model fit: 'shardscope plan' finds one.\n");
  }
  std::fflush(stdout);
  return fail(std::move(error));
}

std::string warnings_text(const std::vector<Violation>& warnings) {
  const Console console = Console::of_stdout();
  std::string text;
  for (const Violation& warning : warnings)
    text += fmt::format("{}  {}\n         {}\n         Cure: {}\n", console.yellow("warning"),
                        console.bold(warning.rule), warning.message, warning.cure);
  return text.empty() ? text : text + "\n";
}

nlohmann::ordered_json warnings_json(const std::vector<Violation>& warnings,
                                     const Workload& workload) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Violation& warning : warnings) json.push_back(violation_json(warning, workload));
  return json;
}

nlohmann::ordered_json violation_json(const Violation& violation, const Workload& workload) {
  nlohmann::ordered_json json = {{"rule", violation.rule},
                                 {"severity", to_string(violation.severity)}};
  if (violation.table >= 0 && static_cast<std::size_t>(violation.table) < workload.tables.size()) {
    json["table"] = workload.tables[static_cast<std::size_t>(violation.table)].name;
  }
  if (violation.row >= 0) json["row"] = violation.row;
  if (violation.column >= 0) json["column"] = violation.column;
  if (violation.rank >= 0) json["rank"] = violation.rank;
  json["amount"] = violation.amount;
  json["message"] = violation.message;
  json["cure"] = violation.cure;
  return json;
}

}  // namespace shardscope::app
