#include "ui/model/plan_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

/// Bytes of the proposed placement that are not on their GPU today.
void add_moved(const Document& document, const Layout& proposed, std::int32_t table,
               std::vector<double>& into, double& sum) {
  const auto index = static_cast<std::size_t>(table);
  const TablePlacement& was = document.layout().tables[index];
  const TablePlacement& now = proposed.tables[index];
  const double all = table_bytes(document.workload().tables[index]);
  if (now.cluster == ClusterType::DP) {
    for (double& gpu : into) gpu += all;
    sum += all * static_cast<double>(into.size());
    return;
  }
  if (was.cluster == ClusterType::DP) return;
  const bool same_grid = was.row_shards == now.row_shards && was.mapping == now.mapping &&
                         was.row_cuts == now.row_cuts && was.column_cuts == now.column_cuts;
  for (std::int32_t row = 0; row < now.row_shards; ++row) {
    for (std::int32_t column = 0; column < now.column_shards(); ++column) {
      const std::int32_t owner = now.owner(row, column);
      if (same_grid && was.owner(row, column) == owner) continue;
      // Another grid: rows that lie on the GPU already are not counted apart.
      if (!same_grid && was.owners.size() == 1 && was.owners[0] == owner) continue;
      const double bytes = shard_bytes(document.workload(), proposed, {table, row, column});
      if (static_cast<std::size_t>(owner) < into.size())
        into[static_cast<std::size_t>(owner)] += bytes;
      sum += bytes;
    }
  }
}

std::string words_of(const Document& document, const std::vector<std::int32_t>& tables) {
  if (tables.size() == 1) {
    return document.workload().tables[static_cast<std::size_t>(tables[0])].name;
  }
  double low = 1e300, high = 0;
  for (const std::int32_t table : tables) {
    const double keys = document.costs().facts(static_cast<std::size_t>(table)).keys;
    low = std::min(low, keys);
    high = std::max(high, keys);
  }
  const std::string hot =
      low == high ? fmt::format("hot {:g}", low) : fmt::format("hot {:g} to {:g}", low, high);
  return fmt::format("{} tables, {}", tables.size(), hot);
}

}  // namespace

std::string placement_words(const TablePlacement& placement) {
  if (placement.cluster == ClusterType::DP) return "DP";
  std::vector<std::int32_t> owners = placement.owners;
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  std::string words = to_string(placement.cluster);
  if (placement.exchange == Exchange::hierarchical) words += " hier";
  words += fmt::format(", {}", plural(static_cast<std::int64_t>(owners.size()), "GPU"));
  if (placement.column_shards() > 1)
    words += fmt::format(", {} column cuts", placement.column_shards());
  return words;
}

PlanDiff plan_diff(Document& document, const Layout& proposed) {
  PlanDiff diff;
  const Layout& current = document.layout();
  diff.options_differ = current.clusters != proposed.clusters;
  diff.moved_into_gpu.assign(static_cast<std::size_t>(document.topology().ranks()), 0.0);
  std::map<std::pair<std::string, std::string>, std::vector<std::int32_t>> by_change;
  for (std::size_t t = 0; t < proposed.tables.size() && t < current.tables.size(); ++t) {
    if (current.tables[t] == proposed.tables[t]) continue;
    by_change[{placement_words(current.tables[t]), placement_words(proposed.tables[t])}].push_back(
        static_cast<std::int32_t>(t));
  }
  const double before = document.current().iteration_s;
  for (auto& [words, tables] : by_change) {
    PlanGroup group;
    group.was = words.first;
    group.becomes = words.first == words.second ? "other GPUs" : words.second;
    group.label = words_of(document, tables);
    Layout one = current;
    for (const std::int32_t table : tables) {
      one.tables[static_cast<std::size_t>(table)] =
          proposed.tables[static_cast<std::size_t>(table)];
      add_moved(document, proposed, table, diff.moved_into_gpu, group.moved_bytes);
    }
    const Result<double> after =
        predicted_seconds(document.workload(), document.topology(), one, document.options());
    if (after) group.gain_s = before - *after;
    group.tables = std::move(tables);
    diff.groups.push_back(std::move(group));
  }
  std::stable_sort(diff.groups.begin(), diff.groups.end(),
                   [](const PlanGroup& a, const PlanGroup& b) { return a.gain_s > b.gain_s; });
  return diff;
}

Layout ticked_layout(const Layout& current, const Layout& proposed, const PlanDiff& diff) {
  Layout layout = current;
  bool all = true;
  for (const PlanGroup& group : diff.groups) {
    all = all && group.ticked;
    if (!group.ticked) continue;
    for (const std::int32_t table : group.tables) {
      layout.tables[static_cast<std::size_t>(table)] =
          proposed.tables[static_cast<std::size_t>(table)];
    }
  }
  // Choices of whole clusters come with the whole plan only: they reach tables that stay.
  if (all) layout.clusters = proposed.clusters;
  layout.parent = current.name;
  layout.name = proposed.name;
  return layout;
}

}  // namespace shardscope::ui
