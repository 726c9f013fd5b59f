#pragma once
// Single edits of a layout by hand. Each takes the placement of one table and returns the new one,
// or says why there is none; validity against an executor is layout/check's to say.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::ui {

/// A cell of a table's grid.
struct ShardId {
  std::int32_t table = 0;
  std::int32_t row = 0;
  std::int32_t column = 0;

  friend bool operator==(const ShardId&, const ShardId&) = default;
  friend auto operator<=>(const ShardId&, const ShardId&) = default;
};

/// "(10, 0, 0)".
[[nodiscard]] std::string to_string(const ShardId& shard);

[[nodiscard]] Result<TablePlacement> move_shard(TablePlacement placement, const ShardId& shard,
                                                std::int32_t to);
/// Twice (or `parts` times) as many equal row shards; of the named one, the new parts go to `to`,
/// all others keep their owner. Block rows: the named shard alone is cut evenly.
[[nodiscard]] Result<TablePlacement> split_rows(const Table& table, TablePlacement placement,
                                                const ShardId& shard, std::int32_t parts,
                                                std::int32_t to);
/// Cuts the named row shard at an absolute row; modulo rows first become blocks, which needs a
/// table of one row shard.
[[nodiscard]] Result<TablePlacement> split_rows_at(const Table& table, TablePlacement placement,
                                                   const ShardId& shard, std::int64_t bound,
                                                   std::int32_t to);
/// Cuts the named column shard at an absolute column; the right part goes to `to`.
[[nodiscard]] Result<TablePlacement> split_columns_at(const Table& table, TablePlacement placement,
                                                      const ShardId& shard, std::int32_t bound,
                                                      std::int32_t to);
/// Removes the cut between two neighbours of the grid; owners of the first remain.
[[nodiscard]] Result<TablePlacement> merge_shards(TablePlacement placement, const ShardId& shard,
                                                  const ShardId& with);
/// All shards of the table into one on `to`.
[[nodiscard]] TablePlacement merge_all(const Table& table, const TablePlacement& placement,
                                       std::int32_t to);
/// To another cluster. Cuts and owners stay between RB and UB; from DP the table goes whole to
/// `to`.
[[nodiscard]] TablePlacement set_cluster(const Table& table, TablePlacement placement,
                                         ClusterType cluster, std::int32_t to);

/// "(10,0,0) rows 0:3067956 cols 0:128 @5".
[[nodiscard]] std::string shard_text(const Table& table, const TablePlacement& placement,
                                     const ShardId& shard);
/// Reads that line back: the owner and the bounds may differ from the placement's; the shard may
/// not. Errors name the part that cannot be.
[[nodiscard]] Result<TablePlacement> apply_shard_text(const Table& table,
                                                      const TablePlacement& placement,
                                                      const ShardId& shard, const std::string& text,
                                                      std::int32_t ranks);

/// First and one-past-last row of a shard; of modulo rows, of the whole table.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[nodiscard]] RowRange row_range(const Table& table, const TablePlacement& placement,
                                 std::int32_t row);

/// Column bounds move in steps of this many elements.
inline constexpr std::int32_t kColumnGranule = 4;

}  // namespace shardscope::ui
