#include "ui/model/alternatives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "planner/table_facts.hpp"
#include "ui/model/numbers.hpp"

namespace shardscope::ui {
namespace {

bool all_pooled(const Workload& workload, std::int32_t table) {
  return std::all_of(workload.features.begin(), workload.features.end(),
                     [&](const Feature& f) { return f.table != table || is_pooled(f.pooling); });
}

double wire_bytes_of(const Document& document, const Layout& layout, std::int32_t table) {
  const TablePlacement& placement = layout.tables[static_cast<std::size_t>(table)];
  double sum = 0;
  for (std::int32_t row = 0; row < placement.row_shards; ++row) {
    for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
      sum += document.costs().wire_bytes(layout, {table, row, column});
    }
  }
  return sum;
}

std::string formula_of(const Document& document, std::int32_t table, ClusterType cluster) {
  const auto index = static_cast<std::size_t>(table);
  const TableFacts& facts = document.costs().facts(index);
  const double ranks = document.topology().ranks();
  switch (cluster) {
    case ClusterType::DP:
      return fmt::format(
          "gradients of all {} × {} elements, 4 B, all-reduced: 2·(n−1)/n·n with "
          "n = {:.0f}",
          count_text(facts.rows), facts.dim, ranks);
    case ClusterType::RB:
      return fmt::format(
          "partial sums: {:.0f} samples × {:g} outputs × {} columns × wire, to n−1 = "
          "{:.0f} GPUs from each owner, twice",
          document.workload().global_batch / ranks, facts.pooled, facts.dim, ranks - 1);
    case ClusterType::UB:
      return fmt::format("unique rows: {} a GPU × {} columns × wire, from n−1 = {:.0f} GPUs, twice",
                         count_text(facts.rank_unique), facts.dim, ranks - 1);
  }
  return {};
}

Alternative alternative_of(Document& document, std::int32_t table, ClusterType cluster) {
  const auto index = static_cast<std::size_t>(table);
  const Workload& workload = document.workload();
  const double ranks = document.topology().ranks();
  Alternative result;
  result.current = document.layout().tables[index].cluster == cluster;
  result.formula = formula_of(document, table, cluster);
  Result<Edit> edit = as_cluster(document, table, cluster);
  if (!edit) {
    result.why_not = to_string(edit.error());
    return result;
  }
  Layout layout = document.layout();
  layout.tables[index] = edit->placement;
  result.allowed = true;
  result.iteration_s = document.evaluator().try_table(document.layout(), index, edit->placement);
  result.load_s = load_seconds(document.costs().table(layout, index));
  result.memory_bytes =
      table_bytes(workload.tables[index]) * (cluster == ClusterType::DP ? ranks : 1);
  if (cluster == ClusterType::DP) {
    const TableFacts& facts = document.costs().facts(index);
    result.wire_bytes = 2 * (ranks - 1) * facts.rows * facts.dim * 4;
  } else {
    result.wire_bytes = wire_bytes_of(document, layout, table);
  }
  if (!result.current) result.edit = std::move(*edit);
  return result;
}

}  // namespace

Result<Edit> as_cluster(const Document& document, std::int32_t table, ClusterType cluster) {
  if (cluster == ClusterType::RB && !all_pooled(document.workload(), table)) {
    return fail({ErrorKind::usage, "RB pools at the owner: a feature of this table is not pooled",
                 "", "", ""});
  }
  return edit_cluster(document, table, cluster, lightest_gpu(document.current(), false, -1));
}

const std::array<Alternative, kClusterTypes>& Alternatives::of(Document& document,
                                                               std::int32_t table) {
  if (node_ == document.history().current() && table_ == table) return values_;
  node_ = document.history().current();
  table_ = table;
  for (const ClusterType cluster : {ClusterType::DP, ClusterType::RB, ClusterType::UB}) {
    values_[static_cast<std::size_t>(cluster)] = alternative_of(document, table, cluster);
  }
  return values_;
}

}  // namespace shardscope::ui
