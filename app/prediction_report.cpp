#include "app/prediction_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/report.hpp"
#include "app/text_table.hpp"
#include "layout/memory.hpp"
#include "planner/baselines.hpp"
#include "profiler/stage_times.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kExchanges = 2;
constexpr const char* kReferenceLayout = "table_row_wise";

/// Tables and shards of one cluster (RB by exchange).
struct ClusterCount {
  int tables = 0;
  std::size_t shards = 0;
};

std::string counted(const ClusterCount& count, const std::string& name) {
  if (count.tables == 0) return "";
  if (count.shards == 0) return fmt::format(", {} {}", count.tables, name);
  return fmt::format(", {} {} in {} shard{}", count.tables, name,
                     grouped(static_cast<long long>(count.shards)), count.shards == 1 ? "" : "s");
}

std::string clusters_text(const Layout& layout) {
  ClusterCount dp, ub;
  ClusterCount rb[kExchanges];
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& table = layout.tables[t];
    ClusterCount& count = table.cluster == ClusterType::DP ? dp
                          : table.cluster == ClusterType::UB
                              ? ub
                              : rb[static_cast<std::size_t>(layout.exchange_of(t))];
    ++count.tables;
    count.shards += table.owners.size();
  }
  const std::string text =
      counted(dp, "DP") + counted(rb[static_cast<std::size_t>(Exchange::flat)], "RB flat") +
      counted(rb[static_cast<std::size_t>(Exchange::hierarchical)], "RB hierarchical") +
      counted(ub, "UB");
  return text.size() > 2 ? text.substr(2) : "no tables";
}

}  // namespace

StageProfile stage_profile_of(const Prediction& prediction, std::int32_t ranks) {
  StageSum sum;
  for (const Span& span : prediction.simulation.spans) sum.add(span);
  return stage_profile(sum.totals(), 1, ranks);
}

std::string setting_line(const Inputs& inputs, const PredictOptions& options) {
  const Topology& topology = inputs.topology;
  std::string line =
      fmt::format("{}, batch {}, {} as {}x{} ({}), executor {}, schedule {}", inputs.workload.name,
                  grouped(inputs.workload.global_batch), counted(topology.ranks(), "rank"),
                  topology.hosts, topology.gpus_per_host, topology.name,
                  to_string(options.executor), to_string(options.schedule));
  if (inputs.workload.dense.interaction == Interaction::none) line += ", no dense part";
  if (inputs.workload.rows_cap > 0)
    line += fmt::format(", rows capped at {}", grouped(inputs.workload.rows_cap));
  return line;
}

std::optional<ReferenceRatio> ratio_to_reference(const Inputs& inputs, const Layout& layout,
                                                 const PredictOptions& options) {
  const Result<Layout> reference = baseline(kReferenceLayout, inputs.workload, inputs.topology);
  if (!reference || reference->tables == layout.tables) return std::nullopt;
  const auto ratio = predicted_ratio(inputs.workload, inputs.topology, layout, *reference, options);
  if (!ratio) return std::nullopt;
  return ReferenceRatio{kReferenceLayout, *ratio};
}

std::string ratio_text(const TimeRatio& ratio) {
  return fmt::format("{:.3f}  ({:.3f} to {:.3f}, 90 %)", ratio.estimate, ratio.low, ratio.high);
}

std::string reference_text(const std::optional<ReferenceRatio>& ratio) {
  if (!ratio) return {};
  return fmt::format("ratio          {:.3f} of {}'s time  ({:.3f} to {:.3f}, 90 %)\n",
                     ratio->ratio.estimate, ratio->reference, ratio->ratio.low, ratio->ratio.high);
}

nlohmann::ordered_json reference_json(const std::optional<ReferenceRatio>& ratio) {
  if (!ratio) return nullptr;
  return {{"reference", ratio->reference},
          {"estimate", ratio->ratio.estimate},
          {"low", ratio->ratio.low},
          {"high", ratio->ratio.high}};
}

std::string prediction_text(const Inputs& inputs, const Prediction& prediction) {
  std::string text = fmt::format("iteration      {} ms  ({} to {} ms, 90 %)\n",
                                 ms_text(prediction.iteration_s * 1e3),
                                 ms_text(prediction.low_s * 1e3), ms_text(prediction.high_s * 1e3));
  text += fmt::format("throughput     {} samples/s\n",
                      grouped(static_cast<long long>(prediction.samples_per_s)));
  text += fmt::format("trust          {}: {}{}\n", to_string(prediction.trust), prediction.reason,
                      prediction.ask.empty()
                          ? std::string()
                          : fmt::format(". 'shardscope {}' would tell", prediction.ask));
  text += fmt::format("pace           rank {}, longest in {} {}\n", prediction.critical_rank,
                      to_string(prediction.critical_work), to_string(prediction.critical_stage));
  text += fmt::format("links          {} inside domains", bytes_text(prediction.intra_bytes));
  if (inputs.topology.domains() > 1)
    text += fmt::format(", {} between them", bytes_text(prediction.inter_bytes));
  return text + " (all ranks, one iteration)\n";
}

std::vector<std::int64_t> memory_by_rank(const Inputs& inputs, const Layout& layout,
                                         Executor executor) {
  std::vector<std::int64_t> bytes;
  for (const MemoryUse& use : memory_of(inputs.workload, inputs.topology, layout, executor).gpus)
    bytes.push_back(use.total());
  return bytes;
}

std::string layout_text(const Inputs& inputs, const Layout& layout, Executor executor) {
  const std::vector<std::int64_t> memory = memory_by_rank(inputs, layout, executor);
  const auto fullest = std::max_element(memory.begin(), memory.end());
  const double sum = std::accumulate(memory.begin(), memory.end(), 0.0);
  const double limit = inputs.topology.gpu.memory_bytes.value;
  return fmt::format(
      "tables         {}\nmemory         {} on the fullest rank ({}), {} on average, of {}\n",
      clusters_text(layout), bytes_text(static_cast<double>(*fullest)), fullest - memory.begin(),
      bytes_text(sum / static_cast<double>(memory.size())), bytes_text(limit));
}

nlohmann::ordered_json prediction_json(const Inputs& inputs, const Layout& layout,
                                       const PredictOptions& options,
                                       const Prediction& prediction) {
  return {
      {"mode", to_string(Mode::simulated)},
      {"executor", to_string(options.executor)},
      {"schedule", to_string(options.schedule)},
      {"workload", inputs.workload.name},
      {"rows_cap", inputs.workload.rows_cap},
      {"global_batch", inputs.workload.global_batch},
      {"topology", inputs.topology.name},
      {"layout", layout.name},
      {"predicted_ms", prediction.iteration_s * 1e3},
      {"interval_ms", {prediction.low_s * 1e3, prediction.high_s * 1e3}},
      {"trust", to_string(prediction.trust)},
      {"trust_reason", prediction.reason},
      {"ask", prediction.ask},
      {"samples_per_s", prediction.samples_per_s},
      {"critical_rank", prediction.critical_rank},
      {"critical_stage", to_string(prediction.critical_stage)},
      {"critical_work", to_string(prediction.critical_work)},
      {"links", {{"intra_bytes", prediction.intra_bytes}, {"inter_bytes", prediction.inter_bytes}}},
      {"stages", stages_json(stage_profile_of(prediction, inputs.topology.ranks()))},
      {"memory", memory_by_rank(inputs, layout, options.executor)}};
}

}  // namespace shardscope::app
