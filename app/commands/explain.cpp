#include "planner/explain.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/codec_report.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/fit_report.hpp"
#include "app/planning_codecs.hpp"
#include "app/prediction_report.hpp"
#include "app/priced_inputs.hpp"
#include "app/run_setup.hpp"
#include "app/text_table.hpp"
#include "layout/names.hpp"
#include "planner/codec_search.hpp"
#include "planner/layout_warnings.hpp"
#include "planner/table_arithmetic.hpp"

namespace shardscope::app {
namespace {

/// Everything the report needs.
struct ExplainReport {
  const Inputs& inputs;
  const PredictOptions& how;
  const Layout& layout;
  const Explanation& found;
  const std::vector<Violation>& warnings;
  std::string table;  ///< whose arithmetic is shown; empty: none
  const std::vector<FormArithmetic>& forms;
  const std::vector<CodecAccount>& codecs;
  /// Iteration with the codecs that pay, which `codecs` is then about; 0: none were asked for.
  double coded_s = 0;
};

const std::string& name_of(const Inputs& inputs, std::int32_t table) {
  return inputs.workload.tables[static_cast<std::size_t>(table)].name;
}

std::string form_name(const FormArithmetic& form) {
  if (form.cluster != ClusterType::RB) return to_string(form.cluster);
  return fmt::format("{} {}", to_string(form.cluster), to_string(form.exchange));
}

std::string saved(double seconds, double of) {
  return fmt::format("{} ms, {:+.1f} %", ms_text(seconds * 1e3), (seconds / of - 1) * 100);
}

void print_limits(const ExplainReport& report) {
  const double now = report.found.iteration_s;
  TextTable table({{"if free", Align::left}, {"iteration"}, {"saves", Align::left}});
  for (const LimitEffect& effect : report.found.limits) {
    const double share = now > 0 ? 1 - effect.without_s / now : 0;
    table.row({to_string(effect.limit), fmt::format("{} ms", ms_text(effect.without_s * 1e3)),
               fmt::format("{} {:.1f} %", bar(share, 10), share * 100)});
  }
  fmt::print("What binds: the iteration if one thing cost nothing\n{}\n", table.text(2));
}

void print_tables(const ExplainReport& report) {
  TextTable table({{"table", Align::left},
                   {"lookup ms"},
                   {"reduce, update ms"},
                   {"index ms"},
                   {"wires ms"},
                   {"placed", Align::left}});
  for (const TableCost& cost : report.found.costliest) {
    const auto t = static_cast<std::size_t>(cost.table);
    table.row({name_of(report.inputs, cost.table), ms_text(cost.lookup_s * 1e3),
               ms_text(cost.reduction_s * 1e3), ms_text(cost.indexing_s * 1e3),
               ms_text(cost.wire_s * 1e3),
               describe(report.layout.tables[t], report.layout.exchange_of(t))});
  }
  fmt::print("Costliest tables of rank {}, each alone\n{}\n", report.found.critical_rank,
             table.text(2));
}

void print_edits(const ExplainReport& report) {
  if (report.found.other_exchange_s > 0)
    fmt::print("All RB tables {}: {}\n\n", to_string(report.found.other_exchange),
               saved(report.found.other_exchange_s, report.found.iteration_s));
  if (report.found.edits.empty()) {
    fmt::print("No single edit of these tables is predicted to help.\n\n");
    return;
  }
  fmt::print("Best single edits\n");
  for (const SuggestedEdit& edit : report.found.edits)
    fmt::print("  {}\n    {}\n", saved(edit.seconds, report.found.iteration_s), edit.what);
  fmt::print("\n");
}

void print_arithmetic(const ExplainReport& report) {
  fmt::print("Table {} in every cluster\n", report.table);
  for (const FormArithmetic& form : report.forms) {
    fmt::print(
        "  {}: iteration {}, {} on its fullest rank{}\n", form_name(form),
        saved(form.iteration_s, report.found.iteration_s), bytes_text(form.memory_bytes),
        form.legal ? "" : fmt::format("; {} cannot train it so", to_string(report.how.executor)));
    TextTable table({{"what", Align::left}, {"ms"}, {"formula", Align::left}});
    for (const ArithmeticLine& line : form.lines)
      table.row({line.label, ms_text(line.value * 1e3), line.formula});
    fmt::print("{}", table.text(4));
  }
}

void print_explanation(const ExplainReport& report) {
  const Console console = Console::of_stdout();
  fmt::print("{}  layout {}\n{}\n\n{}\n\n", console.bold(mode_word(Mode::simulated)),
             report.layout.name, setting_line(report.inputs, report.how), report.found.verdict);
  fmt::print("{}", warnings_text(report.warnings));
  print_limits(report);
  print_tables(report);
  print_edits(report);
  if (report.coded_s > 0)
    fmt::print("With the codecs that pay: {}\n", saved(report.coded_s, report.found.iteration_s));
  if (!report.codecs.empty()) fmt::print("{}\n", codec_accounts_text(report.inputs, report.codecs));
  if (!report.forms.empty()) print_arithmetic(report);
}

nlohmann::ordered_json arithmetic_json(const ExplainReport& report) {
  nlohmann::ordered_json json = {{"table", report.table},
                                 {"forms", nlohmann::ordered_json::array()}};
  for (const FormArithmetic& form : report.forms) {
    nlohmann::ordered_json one = {{"form", form_name(form)},
                                  {"legal", form.legal},
                                  {"iteration_ms", form.iteration_s * 1e3},
                                  {"memory_bytes", form.memory_bytes},
                                  {"lines", nlohmann::ordered_json::array()}};
    for (const ArithmeticLine& line : form.lines)
      one["lines"].push_back(
          {{"label", line.label}, {"ms", line.value * 1e3}, {"formula", line.formula}});
    json["forms"].push_back(std::move(one));
  }
  return json;
}

void print_explanation_json(const ExplainReport& report) {
  const Explanation& found = report.found;
  nlohmann::ordered_json json = {{"mode", to_string(Mode::simulated)},
                                 {"executor", to_string(report.how.executor)},
                                 {"layout", report.layout.name},
                                 {"predicted_ms", found.iteration_s * 1e3},
                                 {"critical_rank", found.critical_rank},
                                 {"critical_stage", to_string(found.critical_stage)},
                                 {"critical_work", to_string(found.critical_work)},
                                 {"verdict", found.verdict},
                                 {"limits", nlohmann::ordered_json::array()},
                                 {"costliest", nlohmann::ordered_json::array()},
                                 {"edits", nlohmann::ordered_json::array()}};
  if (found.other_exchange_s > 0)
    json["other_exchange"] = {{"exchange", to_string(found.other_exchange)},
                              {"predicted_ms", found.other_exchange_s * 1e3}};
  for (const LimitEffect& effect : found.limits)
    json["limits"].push_back(
        {{"limit", to_string(effect.limit)}, {"without_ms", effect.without_s * 1e3}});
  for (const TableCost& cost : found.costliest)
    json["costliest"].push_back({{"table", name_of(report.inputs, cost.table)},
                                 {"lookup_ms", cost.lookup_s * 1e3},
                                 {"reduction_ms", cost.reduction_s * 1e3},
                                 {"indexing_ms", cost.indexing_s * 1e3},
                                 {"wire_ms", cost.wire_s * 1e3}});
  for (const SuggestedEdit& edit : found.edits)
    json["edits"].push_back({{"table", name_of(report.inputs, edit.table)},
                             {"what", edit.what},
                             {"predicted_ms", edit.seconds * 1e3}});
  json["warnings"] = warnings_json(report.warnings, report.inputs.workload);
  if (!report.forms.empty()) json["arithmetic"] = arithmetic_json(report);
  if (report.coded_s > 0) json["coded_ms"] = report.coded_s * 1e3;
  if (!report.codecs.empty()) json["codecs"] = codec_accounts_json(report.inputs, report.codecs);
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

Status explain_command(const ExplainOptions& options) {
  Result<PricedInputs> priced =
      load_priced_inputs(options.inputs, options.how, options.layout, options.json, options.wire);
  if (!priced) return fail(priced.error());
  const auto& [inputs, how, layout] = *priced;
  PredictOptions with_codecs = how;
  if (Status allowed = allow_codecs(inputs, options.codecs, 1, with_codecs); !allowed)
    return allowed;
  const Result<Explanation> found = explain_layout(inputs.workload, inputs.topology, layout, how);
  if (!found) return fail(found.error());
  const std::vector<Violation> warnings =
      layout_warnings(inputs.workload, inputs.topology, layout, how);
  std::string name = options.table;
  if (name.empty() && !found->costliest.empty())
    name = name_of(inputs, found->costliest.front().table);
  std::vector<FormArithmetic> forms;
  if (!name.empty()) {
    const Result<std::int32_t> table = table_by_name(name, inputs.workload, "--table");
    if (!table) return fail(table.error());
    Result<std::vector<FormArithmetic>> arithmetic = table_arithmetic(
        inputs.workload, inputs.topology, layout, static_cast<std::size_t>(*table), how);
    if (!arithmetic) return fail(arithmetic.error());
    forms = std::move(*arithmetic);
  }
  const PlanContext context(inputs.workload, inputs.topology, with_codecs);
  const Layout coded = with_paying_codecs(context, layout, [] { return true; });
  const std::vector<CodecAccount> codecs = codec_accounts(context, coded);
  double coded_s = 0;
  if (with_codecs.allowed_codecs.any())
    coded_s = *predicted_seconds(inputs.workload, inputs.topology, coded, with_codecs);
  const ExplainReport report{inputs, how, layout, *found, warnings, name, forms, codecs, coded_s};
  options.json ? print_explanation_json(report) : print_explanation(report);
  return {};
}

}  // namespace shardscope::app
