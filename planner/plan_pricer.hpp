#pragma once
// Prices layouts one after the other in one plan context: what predicted_seconds() says, without
// looking at the workload anew each time.

#include <memory>
#include <vector>

#include "layout/layout.hpp"
#include "planner/plan_context.hpp"
#include "planner/timeline.hpp"

namespace shardscope {

class PlanPricer {
 public:
  /// Keeps a reference.
  explicit PlanPricer(const PlanContext& context);

  /// Seconds of an iteration. The layout has the context's tables and ranks.
  [[nodiscard]] double seconds(const Layout& layout);

 private:
  const PlanContext& context_;
  StepModel steps_;
  SchedulePresence presence_;
  Schedule schedule_;
  std::unique_ptr<Timeline> timeline_;  ///< of that presence; null at first
  std::vector<StepLoad> loads_;
  std::vector<TimedStep> timed_;
};

}  // namespace shardscope
