#pragma once
// A planner at work beside the desktop, here or in an engine: progress, best so far, cancel.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "planner/plan_run.hpp"

namespace shardscope::ui {

/// A moment of the search.
struct PlanPoint {
  double elapsed_s = 0;
  double best_s = 0;
};

class PlanWork {
 public:
  explicit PlanWork(PlanRequest request) : request_(std::move(request)) {}
  virtual ~PlanWork() = default;
  PlanWork(const PlanWork&) = delete;
  PlanWork& operator=(const PlanWork&) = delete;

  virtual void cancel() = 0;
  [[nodiscard]] virtual bool finished() const = 0;
  /// Once finished; the plan, or why there is none.
  [[nodiscard]] virtual const Result<OptimizedPlan>& result() = 0;
  [[nodiscard]] virtual std::vector<PlanPoint> points() const = 0;
  [[nodiscard]] virtual OptimizeProgress progress() const = 0;
  [[nodiscard]] const PlanRequest& request() const { return request_; }

 private:
  PlanRequest request_;
};

/// In a thread of this process.
class PlanJob : public PlanWork {
 public:
  PlanJob(Workload workload, Topology topology, PlanRequest request);
  /// Cancels and waits.
  ~PlanJob() override;

  void cancel() override { cancelled_ = true; }
  [[nodiscard]] bool finished() const override;
  [[nodiscard]] const Result<OptimizedPlan>& result() override;
  [[nodiscard]] std::vector<PlanPoint> points() const override;
  [[nodiscard]] OptimizeProgress progress() const override;
  void wait() const { future_.wait(); }

 private:
  Result<OptimizedPlan> run(const Workload& workload, const Topology& topology);

  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;  ///< guards the two below
  std::vector<PlanPoint> points_;
  OptimizeProgress progress_;
  mutable std::future<Result<OptimizedPlan>> future_;
  std::optional<Result<OptimizedPlan>> result_;
};

/// In an engine, which tells how it goes on; belongs to the desktop's thread.
class EnginePlan : public PlanWork {
 public:
  explicit EnginePlan(PlanRequest request) : PlanWork(std::move(request)) {}

  void cancel() override {
    if (cancel_) cancel_();
  }
  [[nodiscard]] bool finished() const override { return result_.has_value(); }
  [[nodiscard]] const Result<OptimizedPlan>& result() override { return *result_; }
  [[nodiscard]] std::vector<PlanPoint> points() const override { return points_; }
  [[nodiscard]] OptimizeProgress progress() const override;

  void when_cancelled(std::function<void()> action) { cancel_ = std::move(action); }
  void take_progress(const std::string& phase, double best_s);
  /// The engine's answer: a plan as JSON.
  void take_result(const std::string& json);
  void take_error(const Error& error) { result_ = Result<OptimizedPlan>(fail(error)); }

 private:
  [[nodiscard]] double elapsed_s() const;

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::function<void()> cancel_;
  std::string phase_ = "starting";
  std::vector<PlanPoint> points_;
  std::optional<Result<OptimizedPlan>> result_;
};

}  // namespace shardscope::ui
