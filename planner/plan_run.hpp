#pragma once
// Any planner by its name, for whoever shows how it goes on.

#include <cstdint>
#include <functional>
#include <string>

#include "layout/result.hpp"
#include "planner/optimize.hpp"

namespace shardscope {

struct PlanRequest {
  std::string planner = "optimize";  ///< or a name of named_planners()
  double time_limit_s = 2;
  std::uint64_t seed = 1;
  OptimizeOptions options;  ///< its seed, time limit and progress are not looked at
};

/// The plan in the executor's form; of named planners its seconds alone are known beside the
/// layout. `progress` false cancels: the best so far is returned.
[[nodiscard]] Result<OptimizedPlan> run_plan(
    const Workload& workload, const Topology& topology, const PlanRequest& request,
    const std::function<bool(const OptimizeProgress&)>& progress);

}  // namespace shardscope
