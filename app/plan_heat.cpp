#include "app/plan_heat.hpp"

#include <algorithm>

#include "layout/check.hpp"
#include "planner/cost_model.hpp"
#include "planner/executor_model.hpp"

namespace shardscope::app {
namespace {

constexpr std::size_t kHotTablesShown = 5;

bool geometry_sound(const Workload& workload, const Topology& topology, const Layout& layout,
                    Executor executor) {
  const std::vector<Violation> found = check(workload, topology, layout, executor);
  return std::none_of(found.begin(), found.end(), [](const Violation& violation) {
    const std::string& rule = violation.rule;
    return violation.severity == Severity::error && !rule.starts_with("memory.") &&
           !rule.starts_with("hugectr.") && !rule.starts_with("torchrec.") &&
           !rule.starts_with("engine.") && rule != "columns.multiple_of_4";
  });
}

/// Rows a sample looks up in each table, over its features.
std::vector<double> rows_by_table(const Workload& workload) {
  std::vector<double> rows(workload.tables.size(), 0);
  for (const Feature& feature : workload.features) {
    rows[static_cast<std::size_t>(feature.table)] += feature.hotness.mean() * feature.num_poolings;
  }
  return rows;
}

std::vector<TableHeat> tables_on(std::int32_t rank, const Workload& workload,
                                 const Layout& layout) {
  const std::vector<double> rows = rows_by_table(workload);
  std::vector<std::pair<double, TableHeat>> heats;
  double all = 0;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    double bytes = 0;
    double read = 0;
    for (std::int32_t j = 0; placement.cluster != ClusterType::DP && j < placement.row_shards;
         ++j) {
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        if (placement.owner(j, k) != rank) continue;
        const double shard_rows = rows[t] / placement.row_shards;
        read += shard_rows;
        bytes += shard_rows * placement.width(k) *
                 static_cast<double>(bytes_of(workload.tables[t].dtype));
      }
    }
    all += bytes;
    if (bytes > 0) heats.push_back({bytes, {workload.tables[t].name, read, 0}});
  }
  std::stable_sort(heats.begin(), heats.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (heats.size() > kHotTablesShown) heats.resize(kHotTablesShown);
  std::vector<TableHeat> out;
  for (auto& [bytes, heat] : heats) {
    heat.share = all > 0 ? bytes / all : 0;
    out.push_back(std::move(heat));
  }
  return out;
}

}  // namespace

std::optional<PlanHeat> plan_heat(const Workload& workload, const Topology& topology,
                                  const Layout& layout, Executor executor) {
  if (!geometry_sound(workload, topology, layout, executor)) return std::nullopt;
  PredictOptions options;
  options.executor = executor;
  options.schedule = default_schedule(executor);
  const Result<Prediction> prediction = predict(workload, topology, layout, options);
  if (!prediction) return std::nullopt;
  PlanHeat heat;
  heat.iteration_ms = prediction->iteration_s * 1e3;
  heat.low_ms = prediction->low_s * 1e3;
  heat.high_ms = prediction->high_s * 1e3;
  heat.trust = to_string(prediction->trust);
  heat.rank_ms.assign(static_cast<std::size_t>(topology.ranks()), 0);
  for (const PredictedStage& stage : prediction->stages) {
    for (std::size_t rank = 0; rank < stage.rank_s.size() && rank < heat.rank_ms.size(); ++rank) {
      heat.rank_ms[rank] += stage.rank_s[rank] * 1e3;
    }
  }
  double sum = 0;
  for (const double ms : heat.rank_ms) sum += ms;
  const auto hottest = std::max_element(heat.rank_ms.begin(), heat.rank_ms.end());
  heat.hot_rank = static_cast<std::int32_t>(hottest - heat.rank_ms.begin());
  const double mean = sum / static_cast<double>(heat.rank_ms.size());
  heat.hot_over_mean = mean > 0 ? *hottest / mean : 1;
  heat.tables = tables_on(heat.hot_rank, workload, layout);
  return heat;
}

}  // namespace shardscope::app
