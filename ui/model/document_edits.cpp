#include <fmt/format.h>

#include <utility>

#include "ui/model/document.hpp"
#include "ui/model/numbers.hpp"
#include "ui/model/words.hpp"

namespace shardscope::ui {
namespace {

const TablePlacement& placement_of(const Document& document, std::int32_t table) {
  return document.layout().tables[static_cast<std::size_t>(table)];
}

const Table& table_of(const Document& document, std::int32_t table) {
  return document.workload().tables[static_cast<std::size_t>(table)];
}

Status may_change(const Document& document, const ShardId& shard) {
  if (!document.pinned(shard)) return {};
  return fail({ErrorKind::usage, to_string(shard) + " is pinned", "", "", "Unpin it with P"});
}

double bytes_of_shard(const Document& document, const ShardId& shard) {
  return shard_bytes(document.workload(), document.layout(), shard);
}

}  // namespace

Result<Edit> edit_move(const Document& document, const ShardId& shard, std::int32_t to) {
  if (Status free = may_change(document, shard); !free) return fail(free.error());
  auto moved = move_shard(placement_of(document, shard.table), shard, to);
  if (!moved) return fail(moved.error());
  return Edit{shard.table, std::move(*moved),
              fmt::format("Move {} to {}", to_string(shard), gpu_title(document.topology(), to)),
              bytes_of_shard(document, shard)};
}

Result<Edit> edit_split_rows(const Document& document, const ShardId& shard, std::int32_t parts,
                             std::int32_t to) {
  if (Status free = may_change(document, shard); !free) return fail(free.error());
  auto split = split_rows(table_of(document, shard.table), placement_of(document, shard.table),
                          shard, parts, to);
  if (!split) return fail(split.error());
  return Edit{shard.table, std::move(*split),
              fmt::format("Split {} by rows {}, half to {}", to_string(shard), parts,
                          gpu_title(document.topology(), to)),
              bytes_of_shard(document, shard) * (parts - 1) / parts};
}

Result<Edit> edit_split_columns(const Document& document, const ShardId& shard, std::int32_t bound,
                                std::int32_t to) {
  if (Status free = may_change(document, shard); !free) return fail(free.error());
  const TablePlacement& placement = placement_of(document, shard.table);
  auto split = split_columns_at(table_of(document, shard.table), placement, shard, bound, to);
  if (!split) return fail(split.error());
  const double right = placement.column_begin(shard.column) + placement.width(shard.column) - bound;
  return Edit{shard.table, std::move(*split),
              fmt::format("Split {} at column {}, right part to {}", to_string(shard), bound,
                          gpu_title(document.topology(), to)),
              bytes_of_shard(document, shard) * right / placement.width(shard.column)};
}

Result<Edit> edit_cluster(const Document& document, std::int32_t table, ClusterType cluster,
                          std::int32_t to) {
  if (document.pinned_table(table)) {
    return fail({ErrorKind::usage, table_of(document, table).name + " has a pinned shard", "", "",
                 "Unpin it with P"});
  }
  const Table& facts = table_of(document, table);
  TablePlacement changed = set_cluster(facts, placement_of(document, table), cluster, to);
  const double copies = cluster == ClusterType::DP ? document.topology().ranks() - 1.0 : 0.0;
  return Edit{table, std::move(changed),
              fmt::format("{} to {}", facts.name, shardscope::to_string(cluster)),
              table_bytes(facts) * copies};
}

Result<Edit> edit_merge(const Document& document, const ShardId& shard, const ShardId& with) {
  if (Status free = may_change(document, with); !free) return fail(free.error());
  auto merged = merge_shards(placement_of(document, shard.table), shard, with);
  if (!merged) return fail(merged.error());
  return Edit{shard.table, std::move(*merged),
              fmt::format("Merge {} into {}", to_string(with), to_string(shard)),
              bytes_of_shard(document, with)};
}

Edit edit_merge_all(const Document& document, std::int32_t table, std::int32_t to) {
  return {table, merge_all(table_of(document, table), placement_of(document, table), to),
          fmt::format("{} whole on {}", table_of(document, table).name,
                      gpu_title(document.topology(), to)),
          table_bytes(table_of(document, table))};
}

}  // namespace shardscope::ui
