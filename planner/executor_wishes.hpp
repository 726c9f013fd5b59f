#pragma once
// What an executor refuses of a workload, and what it wants of a layout beyond a good placement.

#include <optional>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

/// What the executor cannot train on this machine however its tables lie.
[[nodiscard]] std::optional<Error> refused_workload(const PlanContext& context);

/// hugectr: one exchange, its order of owners, and a table on every GPU. Others: as it is.
[[nodiscard]] Layout finished_for_executor(const PlanContext& context, Layout layout);

}  // namespace shardscope
