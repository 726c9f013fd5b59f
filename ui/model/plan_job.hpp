#pragma once
// A planner at work beside the desktop: progress, best so far, cancel.

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "planner/optimize.hpp"

namespace shardscope::ui {

struct PlanRequest {
  std::string planner = "optimize";  ///< or a name of named_planners()
  double time_limit_s = 2;
  std::uint64_t seed = 1;
  OptimizeOptions options;
};

/// A moment of the search.
struct PlanPoint {
  double elapsed_s = 0;
  double best_s = 0;
};

class PlanJob {
 public:
  PlanJob(Workload workload, Topology topology, PlanRequest request);
  /// Cancels and waits.
  ~PlanJob();
  PlanJob(const PlanJob&) = delete;
  PlanJob& operator=(const PlanJob&) = delete;

  void cancel() { cancelled_ = true; }
  [[nodiscard]] bool finished() const;
  /// Once finished; the plan, or why there is none.
  [[nodiscard]] const Result<OptimizedPlan>& result();
  [[nodiscard]] std::vector<PlanPoint> points() const;
  [[nodiscard]] OptimizeProgress progress() const;
  [[nodiscard]] const PlanRequest& request() const { return request_; }
  void wait() const { future_.wait(); }

 private:
  Result<OptimizedPlan> run(const Workload& workload, const Topology& topology);

  PlanRequest request_;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;  ///< guards the two below
  std::vector<PlanPoint> points_;
  OptimizeProgress progress_;
  mutable std::future<Result<OptimizedPlan>> future_;
  std::optional<Result<OptimizedPlan>> result_;
};

}  // namespace shardscope::ui
