#include "app/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/stage_comparison.hpp"
#include "app/text_table.hpp"
#include "planner/cost_model.hpp"
#include "planner/executor_model.hpp"
#include "profiler/stage_profile.hpp"
#include "storage/import/trace/trace_write.hpp"

namespace shardscope::app {
namespace {

/// The layout's prediction, where the trace told which layout it ran.
std::optional<Prediction> prediction_of(const storage::Imported& imported) {
  if (imported.plans.empty() || !imported.plans.front().layout) return std::nullopt;
  const storage::ImportedPlan& plan = imported.plans.front();
  PredictOptions options;
  options.executor = plan.executor;
  options.schedule = default_schedule(plan.executor);
  auto prediction = predict(*plan.workload, *plan.topology, *plan.layout, options);
  if (!prediction) return std::nullopt;
  return std::move(*prediction);
}

std::vector<StageComparison> stage_rows_of(const storage::Imported& imported) {
  const storage::ImportedTrace& trace = *imported.trace;
  StageSum sum;
  for (const Span& span : trace.spans) sum.add(span);
  const StageProfile profile =
      stage_profile(sum.totals(), static_cast<std::int64_t>(trace.iterations.size()),
                    static_cast<std::int32_t>(trace.ranks.size()));
  const std::optional<Prediction> prediction = prediction_of(imported);
  return compare_stages(profile, prediction ? &*prediction : nullptr,
                        storage::has_fused_update(trace));
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

/// Of GPU work in no stage: the rank with most, and the mean.
std::pair<double, double> unmapped_ms(const storage::ImportedTrace& trace) {
  double most = 0;
  double sum = 0;
  for (const storage::TraceRank& rank : trace.totals) {
    most = std::max(most, rank.unmapped_ms);
    sum += rank.unmapped_ms;
  }
  return {most, sum / static_cast<double>(std::max<std::size_t>(trace.totals.size(), 1))};
}

/// Where GPUs mostly stand still, an iteration's length says little about the layout.
std::string idle_text(const storage::ImportedTrace& trace) {
  double working = 0;
  for (const storage::TraceRank& rank : trace.totals) {
    working = std::max(working, rank.gpu_ms - rank.waiting_ms);
  }
  const double iteration = storage::iteration_ms(trace);
  if (!(iteration > 0) || working > iteration / 2) return {};
  return fmt::format(
      "The GPUs work at most {} of the {} ms; the rest is waiting for peers and for the host "
      "(profiling slows it). Compare stages, not iterations.\n",
      ms_text(working), ms_text(iteration));
}

/// Bytes an iteration that each rank sends to each, where splits are stated.
std::string sent_to_text(const storage::ImportedTrace& trace) {
  constexpr std::size_t kPeersListed = 16;
  std::size_t peers = 0;
  for (const storage::TraceRank& rank : trace.totals) peers = std::max(peers, rank.sent_to.size());
  if (peers == 0) return {};
  std::vector<TextTable::Column> head = {{"sent to"}};
  for (std::size_t p = 0; p < std::min(peers, kPeersListed); ++p)
    head.push_back({std::to_string(p)});
  TextTable table(std::move(head));
  for (const storage::TraceRank& rank : trace.totals) {
    if (rank.sent_to.empty()) continue;
    std::vector<std::string> cells = {"rank " + std::to_string(rank.rank)};
    for (std::size_t p = 0; p < std::min(peers, kPeersListed); ++p) {
      cells.push_back(p < rank.sent_to.size() ? bytes_text(rank.sent_to[p]) : "-");
    }
    table.row(std::move(cells));
  }
  const std::string more =
      peers > kPeersListed ? fmt::format("  ... {} more ranks\n", peers - kPeersListed) : "";
  return "\nVectors and gradients by receiver, an iteration\n" + table.text(2) + more;
}

}  // namespace

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
                   {"vectors"},
                   {"intra"},
                   {"inter"}});
  for (const storage::TraceRank& rank : trace.totals) {
    table.row({std::to_string(rank.rank), ms_text(rank.gpu_ms), ms_text(rank.embedding_ms),
               ms_text(rank.dense_ms), ms_text(rank.exchange_ms), ms_text(rank.waiting_ms),
               ms_text(rank.unmapped_ms), std::to_string(rank.tables),
               fmt::format("{:.4g}", rank.ids_per_sample), count_text(rank.ids),
               bytes_text(rank.sent_bytes), bytes_text(rank.intra_bytes),
               bytes_text(rank.inter_bytes)});
  }
  text += table.text(2) +
          fmt::format(
              "intra, inter: bytes of all exchanges sent inside and between groups of {} "
              "ranks\n",
              trace.fast_domain);
  const storage::TraceRank& hot = trace.totals[static_cast<std::size_t>(trace.hot_rank)];
  text += fmt::format("Hot rank {}: {} ms of embedding work, {:.4g} ids a sample\n", hot.rank,
                      ms_text(hot.embedding_ms), hot.ids_per_sample);
  text += hot_tables_text(imported) + disagreement(trace) + sent_to_text(trace);
  TextTable stages(
      {{"stage", Align::left}, {"measured max ms"}, {"mean"}, {"predicted max ms"}, {"error"}});
  for (const StageComparison& row : stage_rows_of(imported)) {
    stages.row({row.stage, ms_text(row.measured_max), ms_text(row.measured_mean),
                std::isnan(row.predicted_max) ? "-" : ms_text(row.predicted_max),
                error_text(row.error())});
  }
  const auto [unmapped_max, unmapped_mean] = unmapped_ms(trace);
  if (unmapped_max > 0) {
    stages.row({"in no stage", ms_text(unmapped_max), ms_text(unmapped_mean), "-", "-"});
  }
  text += fmt::format("\n{}{}", stages.text(2), idle_text(trace));
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
      {"fast_domain", trace.fast_domain},
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
                             {"sent_bytes", rank.sent_bytes},
                             {"intra_bytes", rank.intra_bytes},
                             {"inter_bytes", rank.inter_bytes},
                             {"sent_to", rank.sent_to}});
  }
  for (const StageComparison& row : stage_rows_of(imported)) {
    json["stages"].push_back({{"stage", row.stage},
                              {"measured_ms_max", row.measured_max},
                              {"measured_ms_mean", row.measured_mean},
                              {"predicted_ms_max", row.predicted_max},
                              {"error", row.error()}});
  }
  for (const auto& one : trace.unmapped) {
    json["unmapped"].push_back({{"name", one.name}, {"ms", one.ms}, {"count", one.count}});
  }
  return json;
}

}  // namespace shardscope::app
