#pragma once
// A layout as HugeCTR's training scripts take it.

#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::storage {

struct HugectrExport {
  Layout layout;  ///< what HugeCTR will do: owners ascending, column by column and row by row
  /// What differs from the layout that was given, one sentence each.
  std::vector<std::string> changes;
  bool owners_reordered = false;
  std::string python;  ///< a module with shard_matrix, shard_strategy, compression_strategy, calls
  std::string json;    ///< the plain object
};

/// Refused (infeasible), each with table and cure: UB with sum or mean and hotness above 1, unequal
/// cuts, several shards of a table on a GPU, two exchanges among RB tables, a GPU without a table,
/// and whatever check() finds for the executor hugectr. Equal row blocks become residue classes.
[[nodiscard]] Result<HugectrExport> export_hugectr(const Workload& workload,
                                                   const Topology& topology, const Layout& layout);

}  // namespace shardscope::storage
