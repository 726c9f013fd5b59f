#pragma once
// The ways to cut and exchange one table that the planner considers, priced shard by shard.

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/placement_board.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// One way: cluster, cut, exchange, and in how many domains. Owners are found when it is placed:
/// the cells of a block stand on different ranks of one domain; without blocks, anywhere.
struct TableOption {
  TableForm form = TableForm::flat;
  RowMapping mapping = RowMapping::modulo;
  std::int32_t rows = 1;
  std::int32_t columns = 1;
  std::optional<CodecSlots> codecs;  ///< none: the cluster's, or plain wires
  std::int32_t blocks = 0;           ///< domains it stands in; 0: cells go anywhere
  bool everywhere = false;           ///< cell i stands on rank i (rows over all ranks)
  std::vector<BoardShard> cells;     ///< by row, then column
  std::vector<DomainSeconds> block_seconds;
  double block_bytes = 0;       ///< memory of every rank of a block's domain
  double everywhere_s = 0;      ///< what all ranks do for it
  double everywhere_bytes = 0;  ///< memory of all ranks

  /// Adds an equally cut option of another table that goes where this one goes.
  void join(const TableOption& other);

  [[nodiscard]] std::int32_t cells_a_block() const {
    return blocks > 0 ? rows * columns / blocks : rows * columns;
  }
};

/// Legal options of a table within `present`, the uncut first, none with more than `most_cells`
/// cells unless it has the fewest of its form. `prices` weigh what all ranks do.
[[nodiscard]] std::vector<TableOption> table_options(const PlanContext& context,
                                                     const BoardScale& scale, std::size_t table,
                                                     FormSet allowed, const LoadFields& prices,
                                                     std::int32_t most_cells = 1 << 20);

/// Placement of an option on these owners (as its cells).
[[nodiscard]] TablePlacement placement_of(const Table& table, const TableOption& option,
                                          const std::vector<std::int32_t>& owners);

}  // namespace shardscope
