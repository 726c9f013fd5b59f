#pragma once
// What planning and bounding one workload on one machine share: facts, models, legal forms.

#include <vector>

#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"
#include "planner/dense_cost.hpp"
#include "planner/executor_model.hpp"
#include "planner/layout_loads.hpp"
#include "planner/memory_model.hpp"
#include "planner/plan_constraints.hpp"
#include "planner/relaxation.hpp"
#include "planner/table_facts.hpp"

namespace shardscope {

/// Keeps copies of what it is made from; not movable, its parts refer to each other.
struct PlanContext {
  PlanContext(const Workload& workload_given, const Topology& topology_given,
              const PredictOptions& options_given);
  PlanContext(const PlanContext&) = delete;
  PlanContext& operator=(const PlanContext&) = delete;

  Workload workload;
  Topology topology;
  PredictOptions options;
  WorkloadFacts facts;
  ExecutorModel executor;
  DenseCost dense;
  LoadModel loads;
  MemoryModel memory;
  double reader_s = 0;

  [[nodiscard]] Schedule schedule_for(FormSet present) const;
};

/// Forms that the executor can train for every table (a superset where finer rules apply: a bound
/// over it holds). Replication only where the table fits a rank; UB of pooled features in HugeCTR
/// is left out, which check() warns of: such tables are never updated.
[[nodiscard]] std::vector<FormSet> legal_forms(const PlanContext& context);

/// What constraints leave of them. A pinned table has its own form; one that must lie on given
/// ranks, or with others, is not replicated.
[[nodiscard]] std::vector<FormSet> constrained_forms(const PlanConstraints& constraints,
                                                     std::vector<FormSet> legal);

/// False where even the memory of all ranks together is too little.
[[nodiscard]] bool may_fit(const PlanContext& context);

/// Whether check() of a layout takes little beside a plan: the engine's buffer lists grow with
/// tables x ranks x ranks.
[[nodiscard]] bool check_is_cheap(const PlanContext& context);

/// False for mixtures that the executor refuses (HugeCTR: flat beside hierarchical).
[[nodiscard]] bool may_mix(Executor executor, FormSet present);

}  // namespace shardscope
