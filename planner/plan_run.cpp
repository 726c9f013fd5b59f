#include "planner/plan_run.hpp"

#include <utility>

#include "planner/executor_form.hpp"
#include "planner/planners.hpp"

namespace shardscope {

Result<OptimizedPlan> run_plan(const Workload& workload, const Topology& topology,
                               const PlanRequest& request,
                               const std::function<bool(const OptimizeProgress&)>& progress) {
  if (request.planner != "optimize") {
    Result<NamedPlan> plan = named_plan(request.planner, workload, topology, {});
    if (!plan) return fail(plan.error());
    OptimizedPlan result;
    result.layout = in_executor_form(std::move(plan->layout), workload, topology,
                                     request.options.predict.executor);
    const Result<double> seconds =
        predicted_seconds(workload, topology, result.layout, request.options.predict);
    if (!seconds) return fail(seconds.error());
    result.layout.name = request.planner;
    result.seconds = *seconds;
    return result;
  }
  OptimizeOptions options = request.options;
  options.seed = request.seed;
  options.time_limit_s = request.time_limit_s;
  options.progress = progress;
  Result<OptimizedPlan> result = optimize(workload, topology, options);
  if (result) result->layout.name = "optimize";
  return result;
}

}  // namespace shardscope
