#pragma once
// A certificate: no valid layout of the executor is predicted below this, whatever its clusters,
// cuts, owners and codecs (of PredictOptions::allowed_codecs; none allowed: plain wires). What it
// leaves out and so may be loose in: shared wires, memory limits (but for replication), and what
// cuts cost but where plain wires are flat. Proof: planner/mean_iteration.hpp, planner/cut_cases.hpp.

#include <functional>

#include "planner/plan_context.hpp"

namespace shardscope {

/// The bound over layouts that use exactly these forms.
struct MixtureBound {
  double seconds = 0;
  FormSet present = 0;
  LoadFields prices;             ///< seconds a unit of every field at the cheapest point
  std::vector<TableForm> forms;  ///< cheapest form of every table at those prices
};

struct LowerBound {
  double seconds = 0;
  std::vector<MixtureBound> mixtures;  ///< lowest first; empty where no form is legal
};

/// Over layouts whose tables take forms within `allowed` (by table). Needs at least one form a
/// table. Effort: tangents spent on the mixtures that decide. Once `late` holds, what is left is
/// done hastily: the bound is valid but lower.
[[nodiscard]] LowerBound lower_bound(const PlanContext& context,
                                     const std::vector<FormSet>& allowed, int effort = 90,
                                     const std::function<bool()>& late = {});

/// Over all legal forms.
[[nodiscard]] LowerBound lower_bound(const PlanContext& context, int effort = 90,
                                     const std::function<bool()>& late = {});

}  // namespace shardscope
