// Speed of the planner's pieces.

#include <benchmark/benchmark.h>

#include <random>

#include "planner/simulate.hpp"
#include "planner/timeline.hpp"

namespace {

using shardscope::Barrier;
using shardscope::TimedPart;
using shardscope::TimedStep;

/// The steady iteration of the fullest schedule; argument: ranks.
void simulate_iteration(benchmark::State& state) {
  const auto ranks = static_cast<std::int32_t>(state.range(0));
  const shardscope::Schedule schedule = shardscope::make_schedule(
      shardscope::ScheduleKind::inter, {.dp = true, .rb = true, .ub = true, .dense = true});
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1e-3);
  std::vector<TimedStep> steps;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    TimedPart part(ranks, i % 3 == 0 ? Barrier::flat : Barrier::none);
    for (auto* column : {&part.kernel_s, &part.intra_s, &part.inter_s})
      for (double& seconds : *column) seconds = unit(random);
    steps.push_back({part});
  }
  shardscope::Timeline timeline(schedule, ranks, ranks % 8 == 0 ? 8 : ranks, 0.5);
  for (auto _ : state) benchmark::DoNotOptimize(timeline.run(steps));
  state.counters["steps"] = static_cast<double>(steps.size());
}
BENCHMARK(simulate_iteration)->Arg(8)->Arg(128)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
