#pragma once
// Who exchanges what with whom under a layout: the id lists an owner receives and the vectors it
// returns. Byte formulas, buffer list and pipeline all walk these lists, in this order.

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// RB: ids of one feature that fall into one row shard, sent by every rank to an owner. Sent once
/// to each distinct owner of the row shard, however many of its column shards stand there.
struct IdUnit {
  std::int32_t feature = 0;
  std::int32_t table = 0;
  std::int32_t row = 0;

  friend bool operator==(const IdUnit&, const IdUnit&) = default;
};

/// RB: partial sums of one feature over one column shard, one vector a bag: summed over all row
/// shards that stand on the owner (or, across a domain, on its ranks).
struct PartialUnit {
  std::int32_t feature = 0;
  std::int32_t table = 0;
  std::int32_t column = 0;

  friend bool operator==(const PartialUnit&, const PartialUnit&) = default;
};

/// UB: rows that every rank asks of one row shard, once for each distinct owner.
struct RowUnit {
  std::int32_t table = 0;
  std::int32_t row = 0;
  std::int32_t width = 0;  ///< elements of a row that stand on the owner (its column shards)

  friend bool operator==(const RowUnit&, const RowUnit&) = default;
};

/// All lists of a layout; outer index is the owner's rank (or the domain).
struct Routes {
  std::vector<std::vector<IdUnit>> rb_ids;                ///< by (feature, row)
  std::vector<std::vector<PartialUnit>> rb_flat;          ///< flat tables, by (feature, column)
  std::vector<std::vector<PartialUnit>> rb_hierarchical;  ///< hierarchical tables, likewise
  std::vector<std::vector<PartialUnit>> rb_domain;        ///< by domain: distinct of its ranks
  std::vector<std::vector<RowUnit>> ub_rows;              ///< by (table, row)
  std::int32_t rb_count_slots = 0;  ///< int64 slots a peer in the exchange of id counts
  std::int32_t ub_count_slots = 0;
};

[[nodiscard]] Routes routes_of(const Workload& workload, const Topology& topology,
                               const Layout& layout);

/// Distinct owners of row shard `row`, ascending.
[[nodiscard]] std::vector<std::int32_t> owners_of_row(const TablePlacement& placement,
                                                      std::int32_t row);

/// Column shards of row shard `row` that stand on `owner`, ascending.
[[nodiscard]] std::vector<std::int32_t> columns_on(const TablePlacement& placement,
                                                   std::int32_t row, std::int32_t owner);

/// True where the row-wise state of a row shard needs the sums of g^2 of several owners.
[[nodiscard]] bool shares_square_sums(const Table& table, const TablePlacement& placement,
                                      std::int32_t row);

/// Bags of a feature on a rank.
[[nodiscard]] std::int64_t bags_of_rank(const Workload& workload, std::size_t feature,
                                        std::int32_t rank, std::int32_t ranks);

}  // namespace shardscope
