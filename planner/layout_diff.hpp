#pragma once
// What changes from one layout to another of the same tables and ranks, and the bytes that would
// have to move.

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope {

struct TableChange {
  std::int32_t table = 0;
  bool cluster = false;           ///< another cluster, or RB exchanged otherwise
  bool cut = false;               ///< other row or column shards
  std::int32_t moved_shards = 0;  ///< shards of B that stand where A had none of their cells
  double moved_bytes = 0;         ///< weights and state that ranks lack in A and hold in B
};

struct LayoutDiff {
  std::vector<TableChange> tables;  ///< those that change, most bytes first
  std::int32_t moved_shards = 0;
  double moved_bytes = 0;
};

/// A usage error where the layouts differ in tables or ranks. Geometry of both is valid.
[[nodiscard]] Result<LayoutDiff> layout_diff(const Workload& workload, const Layout& a,
                                             const Layout& b);

}  // namespace shardscope
