#pragma once
// The published greedy heuristics: whole tables, dearest first, each on the rank with the least so
// far that has room.

#include <string_view>

#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/named_plan.hpp"

namespace shardscope {

/// `name`: dim (cost = dim), size (rows x dim), lookup (dim x ids a sample), size_lookup (dim x ids
/// a sample x log10 rows): the baselines of AutoShard, DreamShard and NeuroShard. Room is judged
/// by weights and optimizer state against GPU memory without the reserve; a table that fits nowhere
/// goes to the emptiest rank, and check() tells. Tables of features that are not pooled are UB.
[[nodiscard]] Result<NamedPlan> greedy_plan(std::string_view name, const Workload& workload,
                                            const Topology& topology, const PlanSettings& settings);

}  // namespace shardscope
