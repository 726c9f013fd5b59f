#include "planner/layout_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace shardscope {

namespace {

/// Rows of one row shard: a residue class, or a block.
struct RowSet {
  bool block = true;
  std::int64_t first = 0, last = 0;  ///< block
  std::int64_t residue = 0, modulus = 1;
};

RowSet rows_of(const TablePlacement& placement, std::int32_t row, std::int64_t rows) {
  if (placement.cluster == ClusterType::DP) return {true, 0, rows, 0, 1};
  if (placement.mapping == RowMapping::block) {
    const auto j = static_cast<std::size_t>(row);
    return {true, placement.row_cuts[j], placement.row_cuts[j + 1], 0, 1};
  }
  return {false, 0, rows, row, placement.row_shards};
}

/// Numbers in [first, last) that leave `residue` when divided by `modulus`.
double class_size(std::int64_t first, std::int64_t last, std::int64_t residue,
                  std::int64_t modulus) {
  const auto below = [&](std::int64_t end) {
    return end > residue ? (end - residue - 1) / modulus + 1 : 0;
  };
  return static_cast<double>(below(last) - below(first));
}

double common_rows(const RowSet& a, const RowSet& b) {
  const std::int64_t first = std::max(a.first, b.first), last = std::min(a.last, b.last);
  if (first >= last) return 0;
  if (a.block && b.block) return static_cast<double>(last - first);
  if (a.block) return class_size(first, last, b.residue, b.modulus);
  if (b.block) return class_size(first, last, a.residue, a.modulus);
  const std::int64_t shared = std::gcd(a.modulus, b.modulus);
  if (a.residue % shared != b.residue % shared) return 0;
  // Two residue classes meet in one class of their least common multiple.
  const std::int64_t modulus = std::lcm(a.modulus, b.modulus);
  std::int64_t residue = a.residue;
  while (residue % b.modulus != b.residue) residue += a.modulus;
  return class_size(first, last, residue, modulus);
}

/// A cell of a table's grid.
struct Cell {
  RowSet rows;
  std::int32_t first_column = 0, last_column = 0;

  [[nodiscard]] double common(const Cell& other) const {
    const std::int32_t columns =
        std::min(last_column, other.last_column) - std::max(first_column, other.first_column);
    return columns > 0 ? columns * common_rows(rows, other.rows) : 0;
  }
};

std::vector<Cell> cells_on(const TablePlacement& placement, const Table& table, std::int32_t rank) {
  const std::int64_t rows = table.rows;
  if (placement.cluster == ClusterType::DP) return {{rows_of(placement, 0, rows), 0, table.dim}};
  std::vector<Cell> cells;
  for (std::int32_t j = 0; j < placement.row_shards; ++j) {
    for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
      if (placement.owner(j, k) != rank) continue;
      const std::int32_t column = placement.column_cuts[static_cast<std::size_t>(k)];
      cells.push_back({rows_of(placement, j, rows), column, column + placement.width(k)});
    }
  }
  return cells;
}

bool same_cut(const TablePlacement& a, const TablePlacement& b) {
  return a.row_shards == b.row_shards && a.column_cuts == b.column_cuts &&
         a.row_cuts == b.row_cuts && (a.mapping == b.mapping || a.row_shards == 1);
}

/// Ranks that hold something of the placement.
std::vector<std::int32_t> holders(const TablePlacement& placement, std::int32_t ranks) {
  std::vector<std::int32_t> list = placement.owners;
  if (placement.cluster == ClusterType::DP) {
    list.resize(static_cast<std::size_t>(ranks));
    std::iota(list.begin(), list.end(), 0);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

TableChange change_of(const Table& table, const TablePlacement& a, const TablePlacement& b,
                      std::int32_t ranks) {
  TableChange change;
  change.cluster = a.cluster != b.cluster;
  change.cut = a.cluster != ClusterType::DP && b.cluster != ClusterType::DP && !same_cut(a, b);
  const double element = static_cast<double>(bytes_of(table.dtype)) +
                         4.0 * table.optimizer.words_per_element +
                         4.0 * table.optimizer.words_per_row / std::max(table.dim, 1);
  for (const std::int32_t rank : holders(b, ranks)) {
    const std::vector<Cell> before = cells_on(a, table, rank);
    for (const Cell& cell : cells_on(b, table, rank)) {
      double kept = 0;
      for (const Cell& old : before) kept += cell.common(old);
      change.moved_bytes += (cell.common(cell) - kept) * element;
      if (kept <= 0 && cell.common(cell) > 0) ++change.moved_shards;
    }
  }
  return change;
}

}  // namespace

Result<LayoutDiff> layout_diff(const Workload& workload, const Layout& a, const Layout& b) {
  if (a.ranks != b.ranks || a.table_names != b.table_names ||
      a.tables.size() != workload.tables.size()) {
    return fail({ErrorKind::usage,
                 fmt::format("{} ({} tables, {} ranks) and {} ({} tables, {} ranks) differ in more "
                             "than placement",
                             a.name, a.tables.size(), a.ranks, b.name, b.tables.size(), b.ranks),
                 "", "the same tables and ranks", "Plan both for one model and machine"});
  }
  LayoutDiff diff;
  for (std::size_t t = 0; t < workload.tables.size(); ++t) {
    TableChange change = change_of(workload.tables[t], a.tables[t], b.tables[t], a.ranks);
    change.table = static_cast<std::int32_t>(t);
    change.cluster |=
        a.tables[t].cluster == ClusterType::RB && a.exchange_of(t) != b.exchange_of(t);
    if (!change.cluster && !change.cut && change.moved_shards == 0 && change.moved_bytes <= 0)
      continue;
    diff.moved_shards += change.moved_shards;
    diff.moved_bytes += change.moved_bytes;
    diff.tables.push_back(change);
  }
  std::stable_sort(
      diff.tables.begin(), diff.tables.end(),
      [](const TableChange& x, const TableChange& y) { return x.moved_bytes > y.moved_bytes; });
  return diff;
}

}  // namespace shardscope
