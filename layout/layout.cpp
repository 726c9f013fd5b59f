#include "layout/layout.hpp"

#include <algorithm>
#include <utility>

#include "layout/names.hpp"

namespace shardscope {

std::int64_t TablePlacement::rows_in(std::int32_t row, std::int64_t rows) const {
  if (mapping == RowMapping::modulo) return rows / row_shards + (row < rows % row_shards ? 1 : 0);
  const auto at = static_cast<std::size_t>(row);
  return row_cuts[at + 1] - row_cuts[at];
}

std::int32_t TablePlacement::row_shard_of(std::int64_t id) const {
  if (mapping == RowMapping::modulo) return static_cast<std::int32_t>(id % row_shards);
  const auto above = std::upper_bound(row_cuts.begin(), row_cuts.end(), id);
  return static_cast<std::int32_t>(above - row_cuts.begin()) - 1;
}

std::int64_t TablePlacement::local_row(std::int64_t id) const {
  if (mapping == RowMapping::modulo) return id / row_shards;
  return id - row_cuts[static_cast<std::size_t>(row_shard_of(id))];
}

std::int64_t TablePlacement::global_row(std::int32_t row, std::int64_t local) const {
  if (mapping == RowMapping::modulo) return local * row_shards + row;
  return row_cuts[static_cast<std::size_t>(row)] + local;
}

TablePlacement data_parallel(const Table& table) {
  TablePlacement placement;
  placement.cluster = ClusterType::DP;
  placement.column_cuts = {0, table.dim};
  return placement;
}

TablePlacement table_wise(const Table& table, std::int32_t owner, ClusterType cluster) {
  return row_wise(table, {owner}, cluster);
}

TablePlacement row_wise(const Table& table, std::vector<std::int32_t> owners, ClusterType cluster) {
  TablePlacement placement;
  placement.cluster = cluster;
  placement.row_shards = static_cast<std::int32_t>(owners.size());
  placement.column_cuts = {0, table.dim};
  placement.owners = std::move(owners);
  return placement;
}

std::vector<Shard> shards_of(const Layout& layout) {
  std::vector<Shard> shards;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TablePlacement& placement = layout.tables[t];
    if (placement.cluster == ClusterType::DP) continue;
    for (std::int32_t row = 0; row < placement.row_shards; ++row) {
      for (std::int32_t column = 0; column < placement.column_shards(); ++column) {
        shards.push_back({static_cast<std::int32_t>(t), row, column, placement.owner(row, column)});
      }
    }
  }
  return shards;
}

const char* to_string(ClusterType value) {
  return name_of(value);
}
const char* to_string(RowMapping value) {
  return name_of(value);
}
const char* to_string(Exchange value) {
  return name_of(value);
}
const char* to_string(Tier value) {
  return name_of(value);
}

}  // namespace shardscope
