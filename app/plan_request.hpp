#pragma once
// From what a person asked of `plan` to a layout.

#include <functional>
#include <string>
#include <vector>

#include "app/inputs.hpp"
#include "app/options.hpp"
#include "planner/optimize.hpp"
#include "planner/plan_constraints.hpp"

namespace shardscope::app {

/// A layout by any planner, with the bound of the executor's layouts.
struct PlannedLayout {
  std::string planner;
  Layout layout;
  double lower_bound_s = 0;
  double gap = 0;      ///< predicted time over the bound, less 1
  double seconds = 0;  ///< planning took
  bool cancelled = false;
  double cost = 0;        ///< the planner's own objective
  std::string cost_unit;  ///< empty: none
};

/// "TABLE=DP|RB|UB" fixes a table's cluster, "TABLE=RANK[,RANK...]" the ranks of its shards;
/// forbidden ranks and groups of tables ("A,B") that stay together.
[[nodiscard]] Result<PlanConstraints> plan_constraints(const PlanOptions& options,
                                                       const Inputs& inputs);

/// `progress` false stops `optimize` with the best so far. Named planners take their settings
/// (--set) and no constraints; optimize takes effort=N.
[[nodiscard]] Result<PlannedLayout> plan_layout(
    const PlanOptions& options, const Inputs& inputs, const PredictOptions& how,
    const std::function<bool(const OptimizeProgress&)>& progress);

}  // namespace shardscope::app
