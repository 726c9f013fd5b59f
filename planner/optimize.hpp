#pragma once
// The planner: clusters, cuts, owners and exchange together, for the least simulated iteration
// under memory limits and a person's constraints, with a certificate of how near the best it is.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/bound.hpp"
#include "planner/cost_model.hpp"
#include "planner/plan_constraints.hpp"

namespace shardscope {

/// Best so far; asked for after every step that may take time.
struct OptimizeProgress {
  std::string phase;  ///< "bound", a start's name, "search", "codecs", "polish"
  double best_s = 0;  ///< 0: nothing feasible yet
  double lower_bound_s = 0;
  double elapsed_s = 0;
  double share = 0;  ///< of the whole, estimated; never falls
};

struct OptimizeOptions {
  PredictOptions predict;
  PlanConstraints constraints;
  std::uint64_t seed = 1;
  int effort = 1;           ///< rounds of shaking, and evaluations while polishing; 0: first plan
  double time_limit_s = 0;  ///< stops early, so that the result depends on the machine; 0: none
  bool baselines = true;    ///< every fitting baseline is a start
  std::vector<Layout> starts;  ///< further ones, e.g. the layout in use
  /// False cancels: the best so far is returned.
  std::function<bool(const OptimizeProgress&)> progress;
};

/// A start and what it is predicted to take.
struct OptimizeStart {
  std::string name;
  bool fits = false;  ///< passes check(); not looked at where it is no faster than what is found
  double seconds = 0;
};

struct OptimizedPlan {
  Layout layout;
  double seconds = 0;        ///< predict()'s iteration
  double lower_bound_s = 0;  ///< of every valid layout of the executor
  double gap = 0;            ///< seconds / lower_bound_s - 1
  bool cancelled = false;    ///< by the caller or the time limit
  double elapsed_s = 0;
  std::vector<OptimizeStart> starts;
};

/// Infeasible where no layout of the executor fits; planner/explain.hpp says what is missing.
/// Deterministic for a seed unless a time limit or a cancel cuts it short.
[[nodiscard]] Result<OptimizedPlan> optimize(const Workload& workload, const Topology& topology,
                                             const OptimizeOptions& options);

}  // namespace shardscope
