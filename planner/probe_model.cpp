#include "planner/probe_model.hpp"

#include <algorithm>
#include <vector>

#include "planner/cost_model.hpp"
#include "planner/dense_cost.hpp"
#include "planner/layout_loads.hpp"
#include "planner/step_loads.hpp"
#include "planner/table_facts.hpp"

namespace shardscope {

namespace {

double wire_seconds(const WireLoad& wire, const LinkModel& link) {
  return link.seconds(std::max(wire.sent_bytes * link.sender_share, wire.received_bytes),
                      wire.peers);
}

}  // namespace

struct ProbeModel::State {
  State(const Workload& w, const Topology& s, const Layout& layout)
      : workload(w),
        shape(s),
        facts(workload_facts(workload, shape.ranks(), {})),
        executor(executor_model(Executor::engine, workload)),
        schedule(make_schedule(ScheduleKind::serial, presence_of(workload, layout))),
        loads(LoadModel(facts, shape, executor, codecs).of(layout)) {}

  Workload workload;
  Topology shape;
  WorkloadFacts facts;
  ExecutorModel executor;
  Schedule schedule;
  std::vector<CodecProfile> codecs;
  LayoutLoads loads;
};

ProbeModel::ProbeModel(const Workload& workload, const Topology& shape, const Layout& layout)
    : state_(std::make_unique<State>(workload, shape, layout)) {}
ProbeModel::~ProbeModel() = default;
ProbeModel::ProbeModel(ProbeModel&&) noexcept = default;

std::array<double, kStages> ProbeModel::mean_seconds(const Topology& machine) const {
  const DenseCost dense =
      dense_cost(state_->workload, machine.gpu, state_->executor, state_->facts.rank_batch);
  const StepModel model(state_->facts, machine, state_->executor, dense);
  const std::vector<StepLoad> steps = model.steps(state_->schedule, state_->loads);
  std::array<double, kStages> seconds{};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double& stage = seconds[static_cast<std::size_t>(state_->schedule.steps[i].stage)];
    for (const StepPart& part : steps[i].parts) {
      for (const PartLoad& load : part.ranks) {
        const double own = load.kernel_s + load.delay_s + wire_seconds(load.intra, machine.intra) +
                           wire_seconds(load.inter, machine.inter);
        stage += own / static_cast<double>(part.ranks.size());
      }
    }
  }
  return seconds;
}

}  // namespace shardscope
