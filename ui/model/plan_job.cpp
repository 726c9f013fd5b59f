#include "ui/model/plan_job.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "layout/json.hpp"

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostPoints = 4096;

void add_point(std::vector<PlanPoint>& points, double elapsed_s, double best_s) {
  const bool better = points.empty() || best_s != points.back().best_s;
  if (best_s > 0 && better && points.size() < kMostPoints) points.push_back({elapsed_s, best_s});
}

Result<OptimizedPlan> plan_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto number = [&](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_number() ? at->get<double>() : 0.0;
  };
  const auto layout = json.is_object() ? json.find("layout") : json.end();
  if (!json.is_object() || layout == json.end() || !layout->is_string()) {
    return fail({ErrorKind::runtime, "the engine's plan cannot be read", "plan", "a layout", ""});
  }
  Result<Layout> read = layout_from_json(layout->get<std::string>(), "the engine's plan");
  if (!read) return fail(read.error());
  OptimizedPlan plan;
  plan.layout = std::move(*read);
  plan.seconds = number("seconds");
  plan.lower_bound_s = number("lower_bound_s");
  plan.gap = number("gap");
  plan.elapsed_s = number("elapsed_s");
  return plan;
}

}  // namespace

PlanJob::PlanJob(Workload workload, Topology topology, PlanRequest request)
    : PlanWork(std::move(request)),
      future_(std::async(std::launch::async, [this, w = std::move(workload),
                                              t = std::move(topology)] { return run(w, t); })) {}

PlanJob::~PlanJob() {
  cancelled_ = true;
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
  return run_plan(workload, topology, request(), [this](const OptimizeProgress& now) {
    const std::lock_guard lock(mutex_);
    progress_ = now;
    add_point(points_, now.elapsed_s, now.best_s);
    return !cancelled_;
  });
}

double EnginePlan::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

OptimizeProgress EnginePlan::progress() const {
  return {.phase = phase_,
          .best_s = points_.empty() ? 0 : points_.back().best_s,
          .elapsed_s = elapsed_s()};
}

void EnginePlan::take_progress(const std::string& phase, double best_s) {
  phase_ = phase;
  add_point(points_, elapsed_s(), best_s);
}

void EnginePlan::take_result(const std::string& json) {
  result_ = plan_of(json);
}

}  // namespace shardscope::ui
