#pragma once
// Hill climbing under the simulator itself: single edits of the tables that weigh most where the
// iteration is decided.

#include <functional>

#include "planner/plan_constraints.hpp"
#include "planner/plan_context.hpp"
#include "planner/what_if.hpp"

namespace shardscope {

struct PolishLimits {
  int evaluations = 400;
  std::function<bool()> stop;  ///< true: end now
};

/// Edits `what_if` while its seconds fall; layouts stay legal for the executor and within memory.
/// `capacity`: bytes of a rank by the memory model.
void polish(const PlanContext& context, const PlanConstraints& constraints,
            const std::vector<FormSet>& allowed, double capacity, WhatIf& what_if,
            const PolishLimits& limits);

}  // namespace shardscope
