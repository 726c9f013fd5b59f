#pragma once
// Every planner by name: what `plan --planner NAME` calls.

#include <string>
#include <string_view>
#include <vector>

#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/named_plan.hpp"

namespace shardscope {

/// The layouts of planner/baselines.hpp, the greedy heuristics (dim, size, lookup, size_lookup),
/// mlperf, mlperf-hier, embark, embark-hier, torchrec.
[[nodiscard]] std::vector<std::string> named_planners();

/// A plan of that name. An unknown name or setting is a usage error; tables that the planner cannot
/// place are infeasible. Whether the layout fits an executor is for check() to say.
[[nodiscard]] Result<NamedPlan> named_plan(std::string_view name, const Workload& workload,
                                           const Topology& topology, const PlanSettings& settings);

}  // namespace shardscope
