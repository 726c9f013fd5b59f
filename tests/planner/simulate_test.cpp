#include "planner/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "planner/timeline.hpp"

namespace shardscope {
namespace {

constexpr double kClose = 1e-9;

LinkModel simple_link(double latency_s, double bytes_per_s) {
  LinkModel model;
  model.latency_s.value = latency_s;
  model.bytes_per_s.value = bytes_per_s;
  model.efficiency.value = 1;
  return model;
}

PartLoad random_part_load(Barrier barrier, std::int32_t ranks, std::int32_t fast_domain,
                          std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  PartLoad load;
  load.kernel_s = unit(random) * 1e-3;
  load.rows = 7;
  if (barrier == Barrier::none) return load;
  load.delay_s = unit(random) * 1e-5;
  if (barrier != Barrier::rail && fast_domain > 1)
    load.intra = {unit(random) * 1e8, unit(random) * 1e8, fast_domain - 1};
  if (barrier != Barrier::domain && ranks > fast_domain)
    load.inter = {unit(random) * 1e7, unit(random) * 1e7, ranks - fast_domain};
  return load;
}

/// Random loads for every step of a schedule; exchanges have one to three parts.
SimulationInput random_input(const Schedule& schedule, std::int32_t ranks, std::int32_t fast_domain,
                             std::mt19937_64& random) {
  SimulationInput input;
  input.schedule = schedule;
  input.ranks = ranks;
  input.fast_domain = fast_domain;
  input.intra = simple_link(5e-6, 100e9);
  input.inter = simple_link(20e-6, 10e9);
  input.overlap_cost = std::uniform_real_distribution<double>(0, 1)(random);
  for (const ScheduleStep& step : schedule.steps) {
    StepLoad& load = input.steps.emplace_back();
    const int parts = is_exchange(step.stage) ? 1 + static_cast<int>(random() % 3) : 1;
    for (int p = 0; p < parts; ++p) {
      StepPart& part = load.parts.emplace_back();
      if (is_exchange(step.stage))
        part.barrier = p == 0 ? Barrier::flat : p == 1 ? Barrier::domain : Barrier::rail;
      for (std::int32_t r = 0; r < ranks; ++r)
        part.ranks.push_back(random_part_load(part.barrier, ranks, fast_domain, random));
    }
  }
  return input;
}

Schedule full_schedule(ScheduleKind kind) {
  return make_schedule(kind, {.dp = true, .rb = true, .ub = true, .dense = true});
}

double exchange_seconds(const SimulationInput& input, const PartLoad& load) {
  const auto wire = [&](const WireLoad& moved, const LinkModel& model) {
    if (moved.peers == 0) return load.delay_s;
    return load.delay_s +
           model.seconds(std::max(moved.sent_bytes, moved.received_bytes), moved.peers);
  };
  return std::max(wire(load.intra, input.intra), wire(load.inter, input.inter));
}

StepLoad kernels(std::vector<double> seconds) {
  StepPart part;
  for (const double s : seconds) part.ranks.push_back({.kernel_s = s});
  return {{part}};
}

TEST(Simulate, OneRankSerialIsTheSumOfItsSteps) {
  std::mt19937_64 random(1);
  const SimulationInput input = random_input(full_schedule(ScheduleKind::serial), 1, 1, random);
  double sum = 0;
  for (const StepLoad& step : input.steps)
    for (const StepPart& part : step.parts)
      sum += part.ranks[0].kernel_s +
             (part.barrier == Barrier::none ? 0 : exchange_seconds(input, part.ranks[0]));
  const Simulation simulation = simulate(input);
  EXPECT_NEAR(simulation.iteration_s, sum, kClose);
  EXPECT_TRUE(simulation.steady);
}

TEST(Simulate, SerialIsTheSumOverBarriersOfTheSlowestRank) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SimulationInput input = random_input(full_schedule(ScheduleKind::serial), 6, 6, random);
    for (StepLoad& step : input.steps)
      for (StepPart& part : step.parts)
        if (part.barrier != Barrier::none) part.barrier = Barrier::flat;
    // Between two barriers a rank runs its kernels one after the other; the slowest rank's sum
    // passes. What follows the last barrier continues in the next iteration's first piece.
    std::vector<std::vector<double>> pieces(1, std::vector<double>(6, 0.0));
    double exchanges = 0;
    for (const StepLoad& step : input.steps) {
      for (const StepPart& part : step.parts) {
        for (std::size_t r = 0; r < 6; ++r) pieces.back()[r] += part.ranks[r].kernel_s;
        if (part.barrier == Barrier::none) continue;
        double slowest = 0;
        for (const PartLoad& load : part.ranks)
          slowest = std::max(slowest, exchange_seconds(input, load));
        exchanges += slowest;
        pieces.emplace_back(6, 0.0);
      }
    }
    for (std::size_t r = 0; r < 6; ++r) pieces.front()[r] += pieces.back()[r];
    pieces.pop_back();
    double expected = exchanges;
    for (const auto& piece : pieces) expected += *std::max_element(piece.begin(), piece.end());
    EXPECT_NEAR(simulate(input).iteration_s, expected, kClose);
  }
}

TEST(Simulate, OverlapHidesAnExchangeBehindKernels) {
  // Stream 1 exchanges for 4 ms while stream 0 computes for 3 ms; then both join.
  SimulationInput input;
  input.schedule.streams = 2;
  input.schedule.steps = {{Stage::model_forward, Work::RB, 0, {}, false},
                          {Stage::network_forward, Work::RB, 1, {0}, false},
                          {Stage::dense_forward, Work::bottom_mlp, 0, {}, false},
                          {Stage::dense_forward, Work::top_mlp, 0, {1}, false}};
  input.ranks = 2;
  input.fast_domain = 2;
  input.intra = simple_link(0, 1e9);
  StepPart exchange{Barrier::flat, std::vector<PartLoad>(2)};
  exchange.ranks[0].intra = {4e6, 1e6, 1};
  exchange.ranks[1].intra = {1e6, 4e6, 1};
  input.steps = {kernels({1e-3, 2e-3}), {{exchange}}, kernels({3e-3, 3e-3}), kernels({1e-3, 1e-3})};
  const Simulation simulation = simulate(input);
  EXPECT_NEAR(simulation.iteration_s, 2e-3 + 4e-3 + 1e-3, kClose);
  // Rank 0 arrives 1 ms early and waits.
  EXPECT_NEAR(simulation.at(1, 0).waiting_s, 1e-3, kClose);
  EXPECT_NEAR(simulation.at(1, 1).waiting_s, 0, kClose);
}

TEST(Simulate, OverlappedKernelsPayTheirCost) {
  SimulationInput input;
  input.schedule.streams = 2;
  input.schedule.steps = {{Stage::dense_forward, Work::bottom_mlp, 0, {}, false},
                          {Stage::index_calculation, Work::RB, 1, {}, false}};
  input.steps = {kernels({3e-3}), kernels({2e-3})};
  for (const double cost : {0.0, 0.5, 1.0}) {
    input.overlap_cost = cost;
    EXPECT_NEAR(simulated_iteration_seconds(input), 3e-3 + 2e-3 * cost, kClose);
  }
}

TEST(Simulate, SimultaneousExchangesShareTheWire) {
  SimulationInput input;
  input.schedule.streams = 2;
  input.schedule.steps = {{Stage::network_forward, Work::RB, 0, {}, false},
                          {Stage::network_forward, Work::UB, 1, {}, false}};
  input.ranks = 2;
  input.fast_domain = 2;
  input.intra = simple_link(1e-3, 1e9);
  StepPart exchange{Barrier::flat, std::vector<PartLoad>(2)};
  for (PartLoad& load : exchange.ranks) load.intra = {5e6, 5e6, 1};
  input.steps = {{{exchange}}, {{exchange}}};
  // Latencies pass side by side, 10 MB share the wire. The overlap is counted from the begin, so
  // the first one's latency cannot hide more than the second one's transfer.
  EXPECT_NEAR(simulated_iteration_seconds(input), 1e-3 + 10e-3, kClose);
}

TEST(Simulate, AnExchangeIsMetByWhateverAllReduceIsUnderWay) {
  SimulationInput input;
  input.schedule.streams = 2;
  input.schedule.steps = {{Stage::allreduce, Work::dense, 0, {}, false},
                          {Stage::allreduce, Work::DP, 0, {}, false},
                          {Stage::network_backward, Work::RB, 1, {}, false}};
  input.ranks = 2;
  input.fast_domain = 2;
  input.intra = simple_link(1e-3, 1e9);
  StepPart exchange{Barrier::flat, std::vector<PartLoad>(2)};
  for (PartLoad& load : exchange.ranks) load.intra = {5e6, 5e6, 1};
  // Replicated gradients travel with the dense ones: their own step has no wire.
  const StepLoad none{{StepPart{Barrier::none, std::vector<PartLoad>(2)}}};
  input.steps = {{{exchange}}, none, {{exchange}}};
  EXPECT_NEAR(simulated_iteration_seconds(input), 1e-3 + 10e-3, kClose);
}

TEST(Simulate, PrefetchOverlapsTheNextIterationAndBoundsIt) {
  SimulationInput input;
  input.schedule.streams = 2;
  input.schedule.steps = {{Stage::model_forward, Work::RB, 0, {}, false},
                          {Stage::input_dist, Work::RB, 1, {0}, true},
                          {Stage::update, Work::RB, 0, {}, false}};
  input.steps = {kernels({1e-3}), kernels({2e-3}), kernels({5e-3})};
  EXPECT_NEAR(simulated_iteration_seconds(input), 6e-3, kClose);  // hidden
  input.steps[1] = kernels({20e-3});
  // The next forward waits for the prefetch, which begins after this forward.
  EXPECT_NEAR(simulated_iteration_seconds(input), 21e-3, kClose);
  EXPECT_TRUE(simulate(input).critical_path.front().previous);
}

TEST(Simulate, DomainAndRailBarriersStopOnlyTheirGroup) {
  SimulationInput input;
  input.ranks = 4;
  input.fast_domain = 2;
  input.schedule.steps = {{Stage::network_forward, Work::RB, 0, {}, false}};
  StepPart part{Barrier::domain, std::vector<PartLoad>(4)};
  part.ranks[0].kernel_s = 9e-3;
  input.steps = {{{part}}};
  const Simulation domain = simulate(input);
  EXPECT_NEAR(domain.at(0, 1).waiting_s, 9e-3, kClose);
  EXPECT_NEAR(domain.at(0, 2).waiting_s, 0, kClose);
  input.steps[0].parts[0].barrier = Barrier::rail;
  const Simulation rail = simulate(input);
  EXPECT_NEAR(rail.at(0, 1).waiting_s, 0, kClose);
  EXPECT_NEAR(rail.at(0, 2).waiting_s, 9e-3, kClose);
}

class SimulateProperty : public testing::TestWithParam<ScheduleKind> {};

TEST_P(SimulateProperty, NeverBelowTheLongestChainAndThePathReachesTheEnd) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const SimulationInput input = random_input(full_schedule(GetParam()), 8, 4, random);
    const Simulation simulation = simulate(input);
    EXPECT_TRUE(simulation.steady);
    for (std::int32_t r = 0; r < input.ranks; ++r) {
      std::vector<double> chain(256, 0.0);  // by stream
      for (std::size_t i = 0; i < input.steps.size(); ++i) {
        for (const StepPart& part : input.steps[i].parts) {
          const PartLoad& load = part.ranks[static_cast<std::size_t>(r)];
          double& sum = chain[input.schedule.steps[i].stream];
          sum += load.kernel_s;
          if (part.barrier != Barrier::none) sum += exchange_seconds(input, load);
        }
      }
      EXPECT_GE(simulation.iteration_s, *std::max_element(chain.begin(), chain.end()) - kClose);
    }
    ASSERT_FALSE(simulation.critical_path.empty());
    double end = 0;
    for (std::size_t i = 0; i < input.steps.size(); ++i)
      for (std::int32_t r = 0; r < input.ranks; ++r)
        if (!input.schedule.steps[i].next_batch) end = std::max(end, simulation.at(i, r).end_s);
    EXPECT_NEAR(simulation.critical_path.back().end_s, end, kClose);
    for (std::size_t i = 1; i < simulation.critical_path.size(); ++i)
      EXPECT_LE(simulation.critical_path[i - 1].end_s,
                simulation.critical_path[i].start_s + kClose);
  }
}

TEST_P(SimulateProperty, LessLoadOrMoreBandwidthIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    SimulationInput input = random_input(full_schedule(GetParam()), 8, 4, random);
    const double before = simulated_iteration_seconds(input);
    switch (random() % 4) {
      case 0:
        input.intra.bytes_per_s.value *= 1.7;
        break;
      case 1:
        input.inter.bytes_per_s.value *= 1.7;
        break;
      case 2:
        input.inter.latency_s.value *= 0.3;
        break;
      default:
        for (int n = 0; n < 5; ++n) {
          auto& parts = input.steps[random() % input.steps.size()].parts;
          parts[random() % parts.size()].ranks[random() % 8].kernel_s *= 0.2;
        }
    }
    EXPECT_LE(simulated_iteration_seconds(input), before * (1 + 1e-9));
  }
}

TEST_P(SimulateProperty, SpansCountBytesAndWaiting) {
  std::mt19937_64 random(3);
  const SimulationInput input = random_input(full_schedule(GetParam()), 4, 2, random);
  const Simulation simulation = simulate(input);
  double sent = 0, counted = 0, waited = 0, waiting = 0;
  for (const StepLoad& step : input.steps)
    for (const StepPart& part : step.parts)
      for (const PartLoad& load : part.ranks) sent += load.intra.sent_bytes + load.inter.sent_bytes;
  for (const Span& span : simulation.spans) {
    EXPECT_LE(span.start_ns, span.end_ns);
    counted += static_cast<double>(span.intra_bytes + span.inter_bytes);
    if (span.waiting) waited += static_cast<double>(span.end_ns - span.start_ns) * 1e-9;
  }
  for (const double seconds : simulation.waiting_s) waiting += seconds;
  EXPECT_NEAR(counted, sent, 1e3);
  EXPECT_NEAR(waited, waiting, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Schedules, SimulateProperty,
                         testing::Values(ScheduleKind::serial, ScheduleKind::intra,
                                         ScheduleKind::inter),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(Timeline, ASecondRunForgetsTheFirst) {
  std::mt19937_64 random(5);
  const Schedule schedule = full_schedule(ScheduleKind::inter);
  const SimulationInput slow = random_input(schedule, 8, 4, random);
  const SimulationInput fast = random_input(schedule, 8, 4, random);
  const auto timed = [](const SimulationInput& input) {
    std::vector<TimedStep> steps;
    in_seconds(input.steps, input.intra, input.inter, steps);
    return steps;
  };
  Timeline timeline(schedule, 8, 4, 0.5);
  const double first = timeline.run(timed(fast));
  (void)timeline.run(timed(slow));
  EXPECT_DOUBLE_EQ(timeline.run(timed(fast)), first);
}

}  // namespace
}  // namespace shardscope
