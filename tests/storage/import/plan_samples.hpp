#pragma once
// A small workload, machine and the layouts that the plan tests write and read back.

#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope::test_plans {

/// Four tables a, b, c, d (rows 1000, 40, 12, 900; dims 32, 16, 16, 32), hotness 5, 1, 1, 20.
[[nodiscard]] Workload small_workload();

/// hosts x 2 GPUs of dgx-h100.
[[nodiscard]] Topology small_topology(std::int32_t hosts);

/// On 2 x 2: a over all four ranks in 2 x 2 shards, b replicated, c whole on rank 1, d by rows over
/// the ranks of host 1.
[[nodiscard]] Layout small_layout();

}  // namespace shardscope::test_plans
