#include "ui/model/plan_job.hpp"

#include <chrono>
#include <utility>

#include "planner/planners.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostPoints = 4096;

}  // namespace

PlanJob::PlanJob(Workload workload, Topology topology, PlanRequest request)
    : request_(std::move(request)),
      future_(std::async(std::launch::async, [this, w = std::move(workload),
                                              t = std::move(topology)] { return run(w, t); })) {}

PlanJob::~PlanJob() {
  cancel();
  if (future_.valid()) future_.wait();
}

bool PlanJob::finished() const {
  return result_ || future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

const Result<OptimizedPlan>& PlanJob::result() {
  if (!result_) result_ = future_.get();
  return *result_;
}

std::vector<PlanPoint> PlanJob::points() const {
  const std::lock_guard lock(mutex_);
  return points_;
}

OptimizeProgress PlanJob::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

Result<OptimizedPlan> PlanJob::run(const Workload& workload, const Topology& topology) {
  if (request_.planner != "optimize") {
    Result<NamedPlan> plan = named_plan(request_.planner, workload, topology, {});
    if (!plan) return fail(plan.error());
    const Result<double> seconds =
        predicted_seconds(workload, topology, plan->layout, request_.options.predict);
    if (!seconds) return fail(seconds.error());
    OptimizedPlan result;
    result.layout = std::move(plan->layout);
    result.layout.name = request_.planner;
    result.seconds = *seconds;
    return result;
  }
  OptimizeOptions options = request_.options;
  options.seed = request_.seed;
  options.time_limit_s = request_.time_limit_s;
  options.progress = [this](const OptimizeProgress& now) {
    const std::lock_guard lock(mutex_);
    progress_ = now;
    const bool better = points_.empty() || now.best_s != points_.back().best_s;
    if (now.best_s > 0 && better && points_.size() < kMostPoints) {
      points_.push_back({now.elapsed_s, now.best_s});
    }
    return !cancelled_;
  };
  Result<OptimizedPlan> result = optimize(workload, topology, options);
  if (result) result->layout.name = "optimize";
  return result;
}

}  // namespace shardscope::ui
