#pragma once
// Baselines in the form that an executor wants: the same tables on the same ranks.

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// engine: as it is. hugectr: owners in its order. torchrec: rows in blocks of ceil(rows / shards)
/// instead of residue classes; tables with too few rows for that whole on their first owner;
/// tables over one host's ranks reduced there first.
[[nodiscard]] Layout in_executor_form(Layout layout, const Workload& workload,
                                      const Topology& topology, Executor executor);

}  // namespace shardscope
