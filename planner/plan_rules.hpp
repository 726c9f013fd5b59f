#pragma once
// What a person asks of a plan, as one line of text.

#include <string>

#include "layout/result.hpp"
#include "layout/workload.hpp"
#include "planner/plan_constraints.hpp"

namespace shardscope {

/// Words separated by blanks: TABLE=DP, RB or UB fixes a cluster; TABLE=0,1,5 the GPUs; !7 is a GPU
/// that owns nothing; TABLE+TABLE stay whole on one GPU. Errors name the word.
[[nodiscard]] Result<PlanConstraints> parse_plan_rules(const std::string& text,
                                                       const Workload& workload,
                                                       std::int32_t ranks);

}  // namespace shardscope
