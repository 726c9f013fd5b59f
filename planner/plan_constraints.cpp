#include "planner/plan_constraints.hpp"

#include <algorithm>

namespace shardscope {

namespace {

bool contains(const std::vector<std::int32_t>& ranks, std::int32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

bool obeys(const PlanConstraints& constraints, const Layout& layout, bool codecs_free) {
  const auto at = [&](std::int32_t table) -> const TablePlacement& {
    return layout.tables[static_cast<std::size_t>(table)];
  };
  for (const auto& [table, placement] : constraints.pinned) {
    TablePlacement placed = at(table);
    if (codecs_free) placed.codecs = placement.codecs;
    if (!(placed == placement)) return false;
  }
  for (const auto& [table, cluster] : constraints.clusters)
    if (at(table).cluster != cluster) return false;
  for (const auto& [table, ranks] : constraints.only_ranks) {
    if (at(table).cluster == ClusterType::DP) return false;
    for (const std::int32_t owner : at(table).owners)
      if (!contains(ranks, owner)) return false;
  }
  for (const TablePlacement& table : layout.tables)
    for (const std::int32_t owner : table.owners)
      if (contains(constraints.forbidden_ranks, owner)) return false;
  for (const auto& group : constraints.together) {
    const auto& first = at(group.front()).owners;
    for (const std::int32_t table : group)
      if (first.size() != 1 || at(table).owners != first) return false;
  }
  return true;
}

}  // namespace shardscope
