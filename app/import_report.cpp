#include "app/import_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/plan_heat.hpp"
#include "app/text_table.hpp"
#include "planner/cost_model.hpp"
#include "planner/executor_model.hpp"
#include "profiler/stage_profile.hpp"
#include "storage/import/trace_write.hpp"

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
    text += fmt::format("  {} tables, {} features, batch {}\n", plan.workload->tables.size(),
                        plan.workload->features.size(), grouped(plan.workload->global_batch));
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

/// Measured and predicted milliseconds of a stage; a fused kernel stands with both its stages.
struct StageComparison {
  std::string stage;
  double measured_max = 0;
  double measured_mean = 0;
  double predicted_max = 0;  ///< NaN: there is no prediction
};

bool is_fused(const storage::ImportedTrace& trace) {
  for (const auto& rank : trace.places) {
    for (const storage::WorkPlace& place : rank) {
      if (place.mapped && place.fused) return true;
    }
  }
  return false;
}

std::vector<StageComparison> compare_stages(const storage::Imported& imported) {
  const storage::ImportedTrace& trace = *imported.trace;
  StageSum sum;
  for (const Span& span : trace.spans) sum.add(span);
  const StageProfile profile =
      stage_profile(sum.totals(), static_cast<std::int64_t>(trace.iterations.size()),
                    static_cast<std::int32_t>(trace.ranks.size()));
  std::array<double, kStages> predicted{};
  predicted.fill(std::nan(""));
  if (!imported.plans.empty() && imported.plans.front().layout) {
    const storage::ImportedPlan& plan = imported.plans.front();
    PredictOptions options;
    options.executor = plan.executor;
    options.schedule = default_schedule(plan.executor);
    if (const auto result = predict(*plan.workload, *plan.topology, *plan.layout, options)) {
      predicted.fill(0);
      for (const PredictedStage& one : result->stages) {
        predicted[static_cast<std::size_t>(one.stage)] += one.max_s * 1e3;
      }
    }
  }
  const bool fused = is_fused(trace);
  const auto update = static_cast<std::size_t>(Stage::update);
  std::vector<StageComparison> rows;
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    StageComparison row{to_string(stage), profile.ms_max(stage), profile.ms_mean(stage),
                        predicted[static_cast<std::size_t>(s)]};
    if (fused && stage == Stage::local_reduce) {
      row.stage = "local_reduce+update";
      row.predicted_max += predicted[update];
    }
    if (fused && stage == Stage::update) {
      row.stage = "update (dense)";
      row.predicted_max = std::nan("");
    }
    if (row.measured_max > 0 || row.predicted_max > 0) rows.push_back(std::move(row));
  }
  return rows;
}

std::string disagreement(const storage::ImportedTrace& trace) {
  const storage::TraceRank& work = trace.totals[static_cast<std::size_t>(trace.most_ids)];
  const storage::TraceRank& bytes = trace.totals[static_cast<std::size_t>(trace.most_bytes)];
  if (work.ids <= 0 || bytes.sent_bytes <= 0) return {};
  if (work.sent_bytes >= bytes.sent_bytes) {
    return fmt::format(
        "Bytes and work agree: no rank sends more than rank {}, which looks up the "
        "most.\n",
        work.rank);
  }
  return fmt::format(
      "Bytes and work disagree: rank {} sends the most ({} of vectors an iteration, rank {} {}), "
      "rank {} looks up the most ({} ids, rank {} {}).\n",
      bytes.rank, bytes_text(bytes.sent_bytes), work.rank, bytes_text(work.sent_bytes), work.rank,
      count_text(work.ids), bytes.rank, count_text(bytes.ids));
}

/// Tables of the hot rank by the ids a sample reads of them.
std::string hot_tables_text(const storage::Imported& imported) {
  if (imported.plans.empty() || !imported.plans.front().layout) return {};
  const storage::ImportedPlan& plan = imported.plans.front();
  std::string text;
  const auto hot = static_cast<std::size_t>(imported.trace->hot_rank);
  std::vector<std::pair<double, std::string>> tables;
  for (const Feature& feature : plan.workload->features) {
    const std::string& name = plan.workload->tables[static_cast<std::size_t>(feature.table)].name;
    const auto& on_rank = plan.matrix[hot];
    if (std::find(on_rank.begin(), on_rank.end(), name) == on_rank.end()) continue;
    tables.emplace_back(feature.hotness.mean(), name);
  }
  std::sort(tables.rbegin(), tables.rend());
  for (const auto& [hotness, name] : tables) {
    text += fmt::format("  {}  hotness {:.4g}\n", name, hotness);
  }
  return text;
}

std::string trace_text(const storage::Imported& imported) {
  const storage::ImportedTrace& trace = *imported.trace;
  std::string text =
      fmt::format("\nMEASURED  {} ms an iteration ({} {})\n", ms_text(storage::iteration_ms(trace)),
                  trace.iterations.size(), trace.from_steps ? "profiler steps" : "window");
  TextTable table({{"rank"},
                   {"GPU ms"},
                   {"embedding"},
                   {"dense"},
                   {"exchange"},
                   {"waiting"},
                   {"unmapped"},
                   {"tables"},
                   {"ids/sample"},
                   {"ids"},
                   {"sent"}});
  for (const storage::TraceRank& rank : trace.totals) {
    table.row({std::to_string(rank.rank), ms_text(rank.gpu_ms), ms_text(rank.embedding_ms),
               ms_text(rank.dense_ms), ms_text(rank.exchange_ms), ms_text(rank.waiting_ms),
               ms_text(rank.unmapped_ms), std::to_string(rank.tables),
               fmt::format("{:.4g}", rank.ids_per_sample), count_text(rank.ids),
               bytes_text(rank.sent_bytes)});
  }
  text += table.text(2);
  const storage::TraceRank& hot = trace.totals[static_cast<std::size_t>(trace.hot_rank)];
  text += fmt::format("Hot rank {}: {} ms of embedding work, {:.4g} ids a sample\n", hot.rank,
                      ms_text(hot.embedding_ms), hot.ids_per_sample);
  text += hot_tables_text(imported) + disagreement(trace);
  TextTable stages(
      {{"stage", Align::left}, {"measured max ms"}, {"mean"}, {"predicted max ms"}, {"error"}});
  for (const StageComparison& row : compare_stages(imported)) {
    const bool known = row.predicted_max == row.predicted_max;
    stages.row({row.stage, ms_text(row.measured_max), ms_text(row.measured_mean),
                known ? ms_text(row.predicted_max) : "-",
                known && row.measured_max > 0
                    ? fmt::format("{:+.0f} %", (row.predicted_max / row.measured_max - 1) * 100)
                    : "-"});
  }
  text += "\n" + stages.text(2);
  constexpr std::size_t kUnmappedListed = 8;
  double unmapped = 0;
  for (const auto& one : trace.unmapped) unmapped += one.ms;
  text += fmt::format("Unmapped: {} ms over all ranks in {} names\n", ms_text(unmapped),
                      trace.unmapped.size());
  for (std::size_t i = 0; i < std::min(trace.unmapped.size(), kUnmappedListed); ++i) {
    text += fmt::format("  {} ms  {} x  {}\n", ms_text(trace.unmapped[i].ms),
                        trace.unmapped[i].count, trace.unmapped[i].name.substr(0, 90));
  }
  return text;
}

nlohmann::ordered_json trace_json(const storage::Imported& imported) {
  const storage::ImportedTrace& trace = *imported.trace;
  nlohmann::ordered_json json = {
      {"iteration_ms", storage::iteration_ms(trace)},
      {"iterations", trace.iterations.size()},
      {"world_size", trace.world_size},
      {"hot_rank", trace.totals[static_cast<std::size_t>(trace.hot_rank)].rank},
      {"most_bytes_rank", trace.totals[static_cast<std::size_t>(trace.most_bytes)].rank},
      {"most_ids_rank", trace.totals[static_cast<std::size_t>(trace.most_ids)].rank},
      {"bytes_and_work_agree",
       trace.totals[static_cast<std::size_t>(trace.most_ids)].sent_bytes >=
           trace.totals[static_cast<std::size_t>(trace.most_bytes)].sent_bytes},
      {"ranks", nlohmann::ordered_json::array()},
      {"stages", nlohmann::ordered_json::array()},
      {"unmapped", nlohmann::ordered_json::array()}};
  for (const storage::TraceRank& rank : trace.totals) {
    json["ranks"].push_back({{"rank", rank.rank},
                             {"file", rank.file},
                             {"clock_offset_ms", static_cast<double>(rank.offset_ns) / 1e6},
                             {"gpu_ms", rank.gpu_ms},
                             {"embedding_ms", rank.embedding_ms},
                             {"dense_ms", rank.dense_ms},
                             {"exchange_ms", rank.exchange_ms},
                             {"waiting_ms", rank.waiting_ms},
                             {"unmapped_ms", rank.unmapped_ms},
                             {"tables", rank.tables},
                             {"weight_elements", rank.elements},
                             {"ids", rank.ids},
                             {"ids_per_sample", rank.ids_per_sample},
                             {"sent_bytes", rank.sent_bytes}});
  }
  for (const StageComparison& row : compare_stages(imported)) {
    json["stages"].push_back({{"stage", row.stage},
                              {"measured_ms_max", row.measured_max},
                              {"measured_ms_mean", row.measured_mean},
                              {"predicted_ms_max", row.predicted_max}});
  }
  for (const auto& one : trace.unmapped) {
    json["unmapped"].push_back({{"name", one.name}, {"ms", one.ms}, {"count", one.count}});
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
    text += fmt::format("warning  {}: {}{}\n", note.place, note.message,
                        note.expected.empty() ? "" : " (expected " + note.expected + ")");
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
