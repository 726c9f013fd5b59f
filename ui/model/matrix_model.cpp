#include "ui/model/matrix_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostGroups = 14;

double cell_value(const Document& document, const Layout& layout, const ShardId& shard,
                  MatrixValue value) {
  switch (value) {
    case MatrixValue::cost:
      return load_seconds(document.costs().of(layout, shard));
    case MatrixValue::memory:
      return shard_bytes(document.workload(), layout, shard);
    case MatrixValue::bytes:
      return document.costs().wire_bytes(layout, shard);
  }
  return 0;
}

MatrixRow row_of(const Document& document, const Layout& layout, std::int32_t table,
                 MatrixValue value) {
  const auto index = static_cast<std::size_t>(table);
  const TablePlacement& placement = layout.tables[index];
  MatrixRow row;
  row.table = table;
  row.cost_s = load_seconds(document.costs().table(layout, index));
  if (placement.cluster == ClusterType::DP) {
    const double one = value == MatrixValue::cost ? load_seconds(document.costs().replicated(index))
                       : value == MatrixValue::memory
                           ? table_bytes(document.workload().tables[index])
                           : 0;
    row.cells.push_back({-1, static_cast<float>(one)});
    return row;
  }
  std::map<std::int32_t, double> by_gpu;
  for (std::int32_t r = 0; r < placement.row_shards; ++r) {
    for (std::int32_t c = 0; c < placement.column_shards(); ++c) {
      by_gpu[placement.owner(r, c)] += cell_value(document, layout, {table, r, c}, value);
    }
  }
  for (const auto& [gpu, sum] : by_gpu) row.cells.push_back({gpu, static_cast<float>(sum)});
  return row;
}

/// The power of ten at or below it; at least 1.
double decade(double value) {
  return std::pow(10.0, std::floor(std::log10(std::max(1.0, value)) + 1e-9));
}

/// "10K", "1M".
std::string decade_text(double value) {
  for (const auto& [unit, letter] : {std::pair{1e9, "B"}, {1e6, "M"}, {1e3, "K"}}) {
    if (value >= unit) return fmt::format("{:.0f}{}", value / unit, letter);
  }
  return fmt::format("{:.0f}", value);
}

std::size_t distinct_sizes(const Document& document, const Layout& layout) {
  std::set<std::tuple<ClusterType, double, double>> sizes;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TableFacts& facts = document.costs().facts(t);
    sizes.insert({layout.tables[t].cluster, facts.rows, facts.keys});
  }
  return sizes.size();
}

}  // namespace

void MatrixModel::update(const Document& document, std::shared_ptr<const Layout> shown,
                         MatrixValue value) {
  if (layout_ == shown && value_ == value) return;
  layout_ = std::move(shown);
  value_ = value;
  groups_.clear();
  largest_ = 0;
  shards_ = 0;
  // Many sizes: tables of one decade of rows stand together.
  const bool coarse = distinct_sizes(document, *layout_) > kMostGroups;
  std::map<std::tuple<int, double, double>, MatrixGroup> groups;
  for (std::size_t t = 0; t < layout_->tables.size(); ++t) {
    const TableFacts& facts = document.costs().facts(t);
    const ClusterType cluster = layout_->tables[t].cluster;
    // RB, UB, DP; then large and hot tables first.
    const int order = cluster == ClusterType::RB ? 0 : cluster == ClusterType::UB ? 1 : 2;
    const double rows = coarse ? decade(facts.rows) : facts.rows;
    const double keys = coarse ? decade(facts.keys) : facts.keys;
    MatrixGroup& group = groups[{order, -rows, -keys}];
    if (group.rows.empty()) {
      group.cluster = cluster;
      group.label = coarse ? fmt::format("{}–{} rows · hot {:g}–{:g}", decade_text(rows),
                                         decade_text(rows * 10), keys, keys * 10 - 1)
                           : fmt::format("{} rows · hot {:g}", count_text(facts.rows), facts.keys);
    }
    MatrixRow row = row_of(document, *layout_, static_cast<std::int32_t>(t), value);
    group.cost_s += row.cost_s;
    shards_ += row.cells.size();
    for (const MatrixCell& cell : row.cells) largest_ = std::max(largest_, double{cell.value});
    group.rows.push_back(std::move(row));
  }
  for (auto& [key, group] : groups) {
    std::stable_sort(group.rows.begin(), group.rows.end(),
                     [](const MatrixRow& a, const MatrixRow& b) {
                       const auto first = [](const MatrixRow& row) {
                         return row.cells.empty() ? 0 : row.cells.front().gpu;
                       };
                       return std::pair(first(a), -a.cost_s) < std::pair(first(b), -b.cost_s);
                     });
    groups_.push_back(std::move(group));
  }
}

std::vector<float> fold_rows(const MatrixGroup& group, std::size_t lines, std::int32_t gpus) {
  std::vector<float> folded(lines * static_cast<std::size_t>(gpus), 0.0F);
  for (std::size_t r = 0; r < group.rows.size() && lines > 0; ++r) {
    float* line = folded.data() + r * lines / group.rows.size() * static_cast<std::size_t>(gpus);
    for (const MatrixCell& cell : group.rows[r].cells) {
      const std::int32_t first = cell.gpu < 0 ? 0 : cell.gpu;
      const std::int32_t last = cell.gpu < 0 ? gpus - 1 : cell.gpu;
      for (std::int32_t gpu = first; gpu <= last && gpu < gpus; ++gpu) {
        line[gpu] = std::max(line[gpu], cell.value);
      }
    }
  }
  return folded;
}

}  // namespace shardscope::ui
