#include "app/import_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/plan_heat.hpp"
#include "app/text_table.hpp"
#include "app/trace_report.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kRanksListed = 16;
constexpr std::size_t kNamesListed = 12;

std::optional<PlanHeat> heat_of(const storage::ImportedPlan& plan) {
  if (!plan.layout) return std::nullopt;
  return plan_heat(*plan.workload, *plan.topology, *plan.layout, plan.executor);
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= kNamesListed) return fmt::format("{}", fmt::join(names, " "));
  const std::vector<std::string> some(names.begin(), names.begin() + kNamesListed);
  return fmt::format("{} ... {} in all", fmt::join(some, " "), names.size());
}

std::string heat_text(const PlanHeat& heat) {
  std::string text = fmt::format(
      "SIMULATED  {} ms an iteration ({} to {}, 90 %), trust {}\n"
      "Hot rank {}: {} ms of its own stages, {:.2f} x the mean rank",
      ms_text(heat.iteration_ms), ms_text(heat.low_ms), ms_text(heat.high_ms), heat.trust,
      heat.hot_rank, ms_text(heat.rank_ms[static_cast<std::size_t>(heat.hot_rank)]),
      heat.hot_over_mean);
  for (const TableHeat& table : heat.tables) {
    text += fmt::format("\n  {}  {:.4g} rows a sample, {:.0f} % of the rank's lookups", table.table,
                        table.rows_per_sample, table.share * 100);
  }
  return text + "\n";
}

std::string estimate_text(const storage::PlanEstimate& estimate) {
  double sum = 0;
  for (const double ms : estimate.rank_ms) sum += ms;
  const double hot = estimate.rank_ms[static_cast<std::size_t>(estimate.hot_rank)];
  const double mean = sum / static_cast<double>(estimate.rank_ms.size());
  std::string text = fmt::format(
      "The planner's own estimate: hot rank {} with {:.1f} ms, mean {:.1f} ms ({:+.1f} %)\n",
      estimate.hot_rank, hot, mean, mean > 0 ? (hot / mean - 1) * 100 : 0);
  for (const auto& [table, ms] : estimate.hot_tables) {
    text += fmt::format("  {}  {:.1f} ms\n", table, ms);
  }
  return text;
}

/// Ids a sample of every table.
std::vector<double> ids_by_table(const Workload& workload) {
  std::vector<double> ids(workload.tables.size(), 0);
  for (const Feature& feature : workload.features) {
    ids[static_cast<std::size_t>(feature.table)] += feature.hotness.mean() * feature.num_poolings;
  }
  return ids;
}

/// Tables of a workload that came without a layout.
std::string workload_text(const Workload& workload) {
  const std::vector<double> ids = ids_by_table(workload);
  double elements = 0;
  double all_ids = 0;
  TextTable table({{"table", Align::left}, {"rows"}, {"dim"}, {"ids/sample"}});
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    const Table& one = workload.tables[t];
    elements += static_cast<double>(one.rows) * one.dim;
    all_ids += ids[t];
    if (t < kRanksListed) {
      table.row(
          {one.name, grouped(one.rows), std::to_string(one.dim), fmt::format("{:.4g}", ids[t])});
    }
  }
  std::string text =
      fmt::format("  {}, {}, batch {}, {} elements, {:.4g} ids a sample\n",
                  counted(static_cast<long long>(workload.tables.size()), "table"),
                  counted(static_cast<long long>(workload.features.size()), "feature"),
                  grouped(workload.global_batch), count_text(elements), all_ids) +
      table.text(2);
  if (workload.tables.size() > kRanksListed) {
    text += fmt::format("  ... and {} more\n", workload.tables.size() - kRanksListed);
  }
  return text;
}

std::string plan_text(const storage::ImportedPlan& plan, std::size_t index) {
  std::string text = fmt::format("\nPlan {}  {}", index + 1, plan.name);
  if (plan.layout) {
    text += fmt::format("  {} on {}, batch {}", plan.workload->name, plan.topology->name,
                        grouped(plan.workload->global_batch));
  }
  text += "\n";
  constexpr std::size_t kFactsListed = 20;
  for (std::size_t i = 0; i < std::min(plan.facts.size(), kFactsListed); ++i) {
    const auto& [name, value] = plan.facts[i];
    if (value.size() <= 60) text += fmt::format("  {} {}\n", name, value);
  }
  if (plan.workload && !plan.layout) {
    text += workload_text(*plan.workload);
  }
  if (plan.matrix.empty()) return text;
  TextTable table({{"rank"}, {"tables"}, {"", Align::left}});
  for (std::size_t rank = 0; rank < plan.matrix.size() && rank < kRanksListed; ++rank) {
    table.row({std::to_string(rank), std::to_string(plan.matrix[rank].size()),
               names_text(plan.matrix[rank])});
  }
  text += table.text(2);
  if (plan.matrix.size() > kRanksListed) {
    text += fmt::format("  ... {} more ranks\n", plan.matrix.size() - kRanksListed);
  }
  if (plan.estimate) text += estimate_text(*plan.estimate);
  if (const auto heat = heat_of(plan)) text += heat_text(*heat);
  return text;
}

nlohmann::ordered_json heat_json(const PlanHeat& heat) {
  nlohmann::ordered_json json = {{"predicted_ms", heat.iteration_ms},
                                 {"interval_ms", {heat.low_ms, heat.high_ms}},
                                 {"trust", heat.trust},
                                 {"hot_rank", heat.hot_rank},
                                 {"hot_over_mean", heat.hot_over_mean},
                                 {"rank_ms", heat.rank_ms},
                                 {"hot_tables", nlohmann::ordered_json::array()}};
  for (const TableHeat& table : heat.tables) {
    json["hot_tables"].push_back({{"table", table.table},
                                  {"rows_per_sample", table.rows_per_sample},
                                  {"share", table.share}});
  }
  return json;
}

nlohmann::ordered_json estimate_json(const storage::PlanEstimate& estimate) {
  nlohmann::ordered_json json = {{"rank_ms", estimate.rank_ms},
                                 {"printed_rank_ms", estimate.printed_rank_ms},
                                 {"hot_rank", estimate.hot_rank},
                                 {"hot_tables", nlohmann::ordered_json::array()}};
  for (const auto& [table, ms] : estimate.hot_tables) {
    json["hot_tables"].push_back({{"table", table}, {"ms", ms}});
  }
  return json;
}

nlohmann::ordered_json plan_json(const storage::ImportedPlan& plan) {
  nlohmann::ordered_json json = {{"name", plan.name}, {"ranks", plan.matrix.size()}};
  json["facts"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : plan.facts) json["facts"][name] = value;
  json["matrix"] = plan.matrix;
  if (plan.estimate) json["estimate"] = estimate_json(*plan.estimate);
  if (plan.workload) {
    json["tables"] = plan.workload->tables.size();
    json["features"] = plan.workload->features.size();
    json["global_batch"] = plan.workload->global_batch;
  }
  if (!plan.layout) return json;
  json["workload"] = plan.workload->name;
  json["topology"] = plan.topology->name;
  json["tables"] = plan.layout->tables.size();
  json["global_batch"] = plan.workload->global_batch;
  if (const auto heat = heat_of(plan)) json["prediction"] = heat_json(*heat);
  return json;
}

}  // namespace

std::string import_notes_text(const storage::ImportNotes& notes) {
  std::string text;
  for (const std::string& kept : notes.kept()) text += "kept     " + kept + "\n";
  for (const storage::ImportNote& note : notes.warnings()) {
    text += fmt::format("warning  {}: {}{}{}\n", note.place, note.message,
                        note.expected.empty() ? "" : " (expected " + note.expected + ")",
                        note.times > 1 ? fmt::format(", {} times", note.times) : "");
  }
  const auto shown = static_cast<std::int64_t>(notes.warnings().size());
  if (notes.warning_count() > shown) {
    text += fmt::format("warning  {} more of such\n", grouped(notes.warning_count() - shown));
  }
  if (notes.skipped() > 0) {
    text += fmt::format("skipped  {} lines or records of other things\n", grouped(notes.skipped()));
  }
  return text;
}

std::string import_text(const storage::Imported& imported) {
  std::string text = fmt::format("Imported as {}\n", to_string(imported.kind));
  text += import_notes_text(imported.notes);
  if (imported.trace) text += trace_text(imported);
  for (std::size_t i = 0; i < imported.plans.size(); ++i) text += plan_text(imported.plans[i], i);
  return text;
}

nlohmann::ordered_json import_json(const storage::Imported& imported) {
  nlohmann::ordered_json json = {{"kind", to_string(imported.kind)},
                                 {"plans", nlohmann::ordered_json::array()}};
  if (imported.trace) json["trace"] = trace_json(imported);
  for (const storage::ImportedPlan& plan : imported.plans) json["plans"].push_back(plan_json(plan));
  nlohmann::ordered_json warnings = nlohmann::ordered_json::array();
  for (const storage::ImportNote& note : imported.notes.warnings()) {
    warnings.push_back(
        {{"place", note.place}, {"message", note.message}, {"expected", note.expected}});
  }
  json["kept"] = imported.notes.kept();
  json["warnings"] = std::move(warnings);
  json["warning_count"] = imported.notes.warning_count();
  json["skipped"] = imported.notes.skipped();
  return json;
}

Status inspect_import(const std::string& path, storage::ImportKind kind, bool json) {
  const auto imported = storage::import_files(kind, {path}, {}, storage::built_in_kernel_map(), {});
  if (!imported) return fail(imported.error());
  if (json) {
    fmt::print("{}\n", import_json(*imported).dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", import_text(*imported));
  }
  return {};
}

}  // namespace shardscope::app
