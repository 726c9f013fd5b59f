#pragma once
// How tables are cut, placed and exchanged: the value a person edits, a planner returns, an
// executor runs. Everything here is a plain value; rules stand in layout/check.hpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layout/workload.hpp"

namespace shardscope {

/// The embedding cluster of a table, named by how its traffic compresses.
enum class ClusterType : std::uint8_t {
  DP,  ///< data-parallel: replicated on every rank, gradients all-reduced
  RB,  ///< reduction-based: owners pool, partial sums travel; pooled features only
  UB,  ///< unique-based: unique rows travel, the consumer pools or lays out
};

inline constexpr int kClusterTypes = 3;

/// Which rows form a row shard.
enum class RowMapping : std::uint8_t {
  modulo,  ///< shard j holds rows congruent to j; local row = row / row_shards
  block,   ///< shard j holds [row_cuts[j], row_cuts[j+1]); local row = row - row_cuts[j]
};

/// Route of an RB exchange.
enum class Exchange : std::uint8_t {
  flat,          ///< one all-to-all over all ranks
  hierarchical,  ///< reduced inside the fast domain first, then between equal rails
};

/// Where a shard's rows live. Only hbm runs today; the others are kept, checked and refused to run.
enum class Tier : std::uint8_t { hbm, uvm, uvm_cached, ssd, hash };

/// A compressor in one of the four slots. `bound` is the largest error of one value.
struct CodecSlot {
  std::string name = "raw";
  double bound = 0;
  bool relative = true;  ///< bound x (max - min) of the chunk; else an absolute error

  friend bool operator==(const CodecSlot&, const CodecSlot&) = default;
};

/// {forward, backward} x {intra, inter}.
struct CodecSlots {
  CodecSlot forward_intra, forward_inter, backward_intra, backward_inter;

  friend bool operator==(const CodecSlots&, const CodecSlots&) = default;
};

/// Choices of one cluster; a table may override exchange and codecs.
struct ClusterOptions {
  Exchange exchange = Exchange::flat;  ///< RB only
  bool dedup = true;                   ///< UB only; false sends every id (TorchRec's sequence EC)
  CodecSlots codecs;

  friend bool operator==(const ClusterOptions&, const ClusterOptions&) = default;
};

/// Tier of one shard.
struct ShardTier {
  Tier tier = Tier::hbm;
  double cache_load_factor = 1.0;  ///< uvm_cached: share of rows cached in HBM, 0..1

  friend bool operator==(const ShardTier&, const ShardTier&) = default;
};

/// Shard (i, j, k): row shard j and column shard k of table i, on one rank.
struct Shard {
  std::int32_t table = 0;
  std::int32_t row = 0;
  std::int32_t column = 0;
  std::int32_t owner = 0;

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// Cut and owners of one table. Row shards x column shards form a grid; each cell has one owner,
/// and one rank may own several cells. DP tables have a single cell and no owner.
struct TablePlacement {
  ClusterType cluster = ClusterType::RB;
  RowMapping mapping = RowMapping::modulo;
  std::int32_t row_shards = 1;
  std::vector<std::int64_t> row_cuts;  ///< block only: row_shards + 1 bounds from 0 to rows
  std::vector<std::int32_t> column_cuts;  ///< column shards + 1 bounds from 0 to dim
  std::vector<std::int32_t> owners;       ///< owners[row * column_shards() + column]; empty for DP
  std::vector<ShardTier> tiers;           ///< as owners; empty: all hbm
  std::optional<Exchange> exchange;       ///< overrides the cluster's
  std::optional<CodecSlots> codecs;       ///< overrides the cluster's

  [[nodiscard]] std::int32_t column_shards() const {
    return static_cast<std::int32_t>(column_cuts.size()) - 1;
  }
  [[nodiscard]] std::int32_t owner(std::int32_t row, std::int32_t column) const {
    return owners[static_cast<std::size_t>(row * column_shards() + column)];
  }
  [[nodiscard]] std::int32_t column_begin(std::int32_t column) const {
    return column_cuts[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] std::int32_t width(std::int32_t column) const {
    return column_cuts[static_cast<std::size_t>(column) + 1] - column_begin(column);
  }
  /// Rows of row shard `row` of a table of `rows` rows.
  [[nodiscard]] std::int64_t rows_in(std::int32_t row, std::int64_t rows) const;
  /// Row shard of row `id` and its index inside the shard.
  [[nodiscard]] std::int32_t row_shard_of(std::int64_t id) const;
  [[nodiscard]] std::int64_t local_row(std::int64_t id) const;
  /// Inverse of (row_shard_of, local_row).
  [[nodiscard]] std::int64_t global_row(std::int32_t row, std::int64_t local) const;

  friend bool operator==(const TablePlacement&, const TablePlacement&) = default;
};

/// A complete layout: one placement per table, in the workload's table order.
struct Layout {
  std::string name;
  std::string parent;  ///< name of the layout it was edited from; empty for a root
  std::string note;
  std::int32_t ranks = 0;  ///< world size it was made for
  std::array<ClusterOptions, kClusterTypes> clusters;  ///< indexed by ClusterType
  std::vector<std::string> table_names;                ///< must equal the workload's
  std::vector<TablePlacement> tables;

  [[nodiscard]] const ClusterOptions& options(ClusterType type) const {
    return clusters[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] Exchange exchange_of(std::size_t table) const {
    return tables[table].exchange.value_or(options(tables[table].cluster).exchange);
  }
  [[nodiscard]] const CodecSlots& codecs_of(std::size_t table) const {
    return tables[table].codecs ? *tables[table].codecs : options(tables[table].cluster).codecs;
  }

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// A replicated table.
[[nodiscard]] TablePlacement data_parallel(const Table& table);

/// Whole table on one rank.
[[nodiscard]] TablePlacement table_wise(const Table& table, std::int32_t owner,
                                        ClusterType cluster = ClusterType::RB);

/// Modulo row shards on the listed ranks, full width.
[[nodiscard]] TablePlacement row_wise(const Table& table, std::vector<std::int32_t> owners,
                                      ClusterType cluster = ClusterType::RB);

/// All shards of a layout, by table, row, column. DP tables give none.
[[nodiscard]] std::vector<Shard> shards_of(const Layout& layout);

[[nodiscard]] const char* to_string(ClusterType value);
[[nodiscard]] const char* to_string(RowMapping value);
[[nodiscard]] const char* to_string(Exchange value);
[[nodiscard]] const char* to_string(Tier value);

}  // namespace shardscope
