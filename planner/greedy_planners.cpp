#include "planner/greedy_planners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "planner/table_memory.hpp"

namespace shardscope {

namespace {

using GreedyCost = double (*)(double rows, double dim, double ids);

double dim_cost(double, double dim, double) {
  return dim;
}
double size_cost(double rows, double dim, double) {
  return rows * dim;
}
double lookup_cost(double, double dim, double ids) {
  return dim * ids;
}
double size_lookup_cost(double rows, double dim, double ids) {
  return dim * ids * std::log10(std::max(rows, 1.0));
}

GreedyCost cost_by_name(std::string_view name) {
  if (name == "dim") return dim_cost;
  if (name == "size") return size_cost;
  if (name == "lookup") return lookup_cost;
  if (name == "size_lookup") return size_lookup_cost;
  return nullptr;
}

}  // namespace

Result<NamedPlan> greedy_plan(std::string_view name, const Workload& workload,
                              const Topology& topology, const PlanSettings& settings) {
  const GreedyCost cost = cost_by_name(name);
  if (cost == nullptr) {
    return fail({ErrorKind::usage, fmt::format("there is no greedy heuristic '{}'", name), "",
                 "dim, size, lookup or size_lookup", ""});
  }
  if (Status status = only_settings(settings, {}, std::string(name)); !status)
    return fail(status.error());
  std::vector<double> ids(workload.tables.size(), 0.0), costs;
  std::vector<ClusterType> clusters(workload.tables.size(), ClusterType::RB);
  for (const Feature& feature : workload.features) {
    const auto t = static_cast<std::size_t>(feature.table);
    ids[t] += feature.num_poolings * feature.hotness.mean();
    if (!is_pooled(feature.pooling)) clusters[t] = ClusterType::UB;
  }
  for (std::size_t t = 0; t < workload.tables.size(); ++t)
    costs.push_back(
        cost(static_cast<double>(workload.tables[t].rows), workload.tables[t].dim, ids[t]));
  std::vector<std::size_t> order(workload.tables.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });

  const auto ranks = static_cast<std::size_t>(topology.ranks());
  const double room = topology.gpu.memory_bytes.value - static_cast<double>(topology.reserve_bytes);
  std::vector<double> used(ranks, 0.0);
  NamedPlan plan;
  plan.cost_unit = "of its own";
  plan.bucket_cost.assign(ranks, 0.0);
  plan.matrix.resize(ranks);
  plan.column_factors.assign(workload.tables.size(), 1);
  plan.layout.name = name;
  plan.layout.ranks = topology.ranks();
  plan.layout.tables.resize(workload.tables.size());
  for (const Table& table : workload.tables) plan.layout.table_names.push_back(table.name);
  for (const std::size_t t : order) {
    const double bytes = stored_bytes(workload.tables[t]);
    std::size_t best = ranks;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (used[r] + bytes > room) continue;
      if (best == ranks || plan.bucket_cost[r] < plan.bucket_cost[best]) best = r;
    }
    if (best == ranks)
      best = static_cast<std::size_t>(std::min_element(used.begin(), used.end()) - used.begin());
    used[best] += bytes;
    plan.bucket_cost[best] += costs[t];
    plan.matrix[best].push_back(static_cast<std::int32_t>(t));
    plan.layout.tables[t] =
        table_wise(workload.tables[t], static_cast<std::int32_t>(best), clusters[t]);
  }
  plan.cost = *std::max_element(plan.bucket_cost.begin(), plan.bucket_cost.end());
  return plan;
}

}  // namespace shardscope
