#include "planner/plan_pricer.hpp"

#include <algorithm>

namespace shardscope {

PlanPricer::PlanPricer(const PlanContext& context)
    : context_(context), steps_(context.facts, context.topology, context.executor, context.dense) {}

double PlanPricer::seconds(const Layout& layout) {
  const Topology& topology = context_.topology;
  const SchedulePresence now = presence_of(context_.workload, layout);
  if (!timeline_ || now != presence_) {
    presence_ = now;
    schedule_ = executor_schedule(context_.options.executor, context_.options.schedule, now);
    timeline_ = std::make_unique<Timeline>(schedule_, topology.ranks(), topology.fast_domain,
                                           topology.gpu.overlap_cost.value);
  }
  steps_.steps(schedule_, context_.loads.of(layout), loads_);
  in_seconds(loads_, topology.intra, topology.inter, timed_);
  return std::max(timeline_->run(timed_), context_.reader_s);
}

}  // namespace shardscope
