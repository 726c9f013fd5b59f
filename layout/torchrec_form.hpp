#pragma once
// The seven forms in which TorchRec can shard a table, recognised from a placement's grid.

#include <cstdint>
#include <optional>

#include "layout/layout.hpp"
#include "layout/topology.hpp"

namespace shardscope {

/// TorchRec's ShardingType, by its own names.
enum class TorchrecForm : std::uint8_t {
  data_parallel,
  table_wise,
  column_wise,        ///< column shards on any ranks
  table_column_wise,  ///< column shards on the ranks of one host
  row_wise,           ///< one row shard a rank, in rank order
  table_row_wise,     ///< one row shard a rank of one host, in rank order
  grid_shard,         ///< column shards, each cut by rows over the ranks of one host
};

[[nodiscard]] const char* to_string(TorchrecForm value);

/// The form of a placement with valid geometry; nothing where TorchRec has none. Rows only: how
/// they are cut (block, equal) is not looked at.
[[nodiscard]] std::optional<TorchrecForm> torchrec_form(const TablePlacement& placement,
                                                        const Topology& topology);

/// True where row bounds are TorchRec's own: blocks of ceil(rows / shards), the last ones shorter
/// or empty.
[[nodiscard]] bool has_ceil_blocks(const TablePlacement& placement, std::int64_t rows);

}  // namespace shardscope
