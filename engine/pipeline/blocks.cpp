#include "engine/pipeline/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/pipeline/critical_path.hpp"

namespace shardscope::engine {

namespace {

Barrier barrier_of(Group group) {
  switch (group) {
    case Group::flat:
      return Barrier::flat;
    case Group::domain:
      return Barrier::domain;
    case Group::rail:
      return Barrier::rail;
  }
  return Barrier::none;
}

/// Other ranks that an exchange of the group reaches over fast and over slow links.
struct PeerCounts {
  std::int32_t intra = 0;
  std::int32_t inter = 0;
};

PeerCounts peers_of(const Topology& topology, Group group) {
  const std::int32_t near = topology.fast_domain - 1;
  switch (group) {
    case Group::flat:
      return {near, topology.ranks() - topology.fast_domain};
    case Group::domain:
      return {near, 0};
    case Group::rail:
      return {0, topology.domains() - 1};
  }
  return {};
}

double seconds(std::int64_t ns) {
  return static_cast<double>(std::max<std::int64_t>(ns, 0)) * 1e-9;
}

/// The part of a step up to and with its exchange `e`; behind the last, up to the step's end.
PartLoad part_of(const Topology& topology, const StepTimes& times, std::size_t e) {
  PartLoad part;
  const std::int64_t from = e == 0 ? times.start.busy_ns : times.exchanges[e - 1].end.busy_ns;
  if (e == times.exchange_count) {
    part.kernel_s = seconds(times.end.busy_ns - from);
    part.rows = times.rows;
    return part;
  }
  const ExchangeTimes& exchange = times.exchanges[e];
  const PeerCounts peers = peers_of(topology, exchange.group);
  part.kernel_s = seconds(exchange.begin.busy_ns - from);
  part.intra = {static_cast<double>(exchange.sent.intra),
                static_cast<double>(exchange.received.intra), peers.intra};
  part.inter = {static_cast<double>(exchange.sent.inter),
                static_cast<double>(exchange.received.inter), peers.inter};
  return part;
}

double mean_loss(const RunPlan& plan, const RankRunners& runners, std::size_t n) {
  if (runners.front()->dense() == nullptr) return std::nan("");
  double sum = 0;
  for (const auto& runner : runners) sum += runner->loss_sums()[n];
  return sum / static_cast<double>(plan.workload.global_batch);
}

/// The longest chain when every step takes the busy time of its slowest rank.
double critical_path_ms(const RunPlan& plan, const RankRunners& runners, std::size_t n) {
  const std::size_t steps = plan.schedule.steps.size();
  std::vector<double> slowest(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    for (const auto& runner : runners) {
      const double busy_ms = static_cast<double>(runner->times()[n * steps + i].busy_ns()) * 1e-6;
      slowest[i] = std::max(slowest[i], busy_ms);
    }
  }
  return longest_chain(plan.schedule, slowest);
}

/// What both kinds of blocks tell of iteration `n`.
Iteration begin_iteration_record(const RunPlan& plan, const RankRunners& runners,
                                 const BlockRequest& request, std::size_t n) {
  Iteration iteration;
  iteration.index =
      static_cast<std::int32_t>(request.first_iteration) + static_cast<std::int32_t>(n);
  iteration.traced = request.traced;
  iteration.loss = mean_loss(plan, runners, n);
  return iteration;
}

}  // namespace

Block measured_block(const RunPlan& plan, const RankRunners& runners, const BlockRequest& request,
                     std::int64_t epoch_ns) {
  const std::size_t steps = plan.schedule.steps.size();
  Block block;
  for (std::size_t n = 0; n < static_cast<std::size_t>(request.iterations); ++n) {
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t end_ns = 0;
    for (std::size_t i = 0; i < steps; ++i) {
      for (const auto& runner : runners) {
        const StepTimes& times = runner->times()[n * steps + i];
        start_ns = std::min(start_ns, times.start.ns);
        end_ns = std::max(end_ns, times.end.ns);
      }
    }
    Iteration iteration = begin_iteration_record(plan, runners, request, n);
    iteration.start_ns = n == 0 ? start_ns - epoch_ns : block.iterations.back().end_ns;
    iteration.end_ns = end_ns - epoch_ns;
    block.iterations.push_back(iteration);
    block.critical_path_ms.push_back(critical_path_ms(plan, runners, n));
  }
  return block;
}

Block emulated_block(const RunPlan& plan, const RankRunners& runners, const BlockRequest& request,
                     std::int64_t start_ns, Recorder* recorder) {
  Block block;
  for (std::size_t n = 0; n < static_cast<std::size_t>(request.iterations); ++n) {
    const Simulation simulation = simulate(simulation_of(plan, runners, n));
    Iteration iteration = begin_iteration_record(plan, runners, request, n);
    iteration.start_ns = n == 0 ? start_ns : block.iterations.back().end_ns;
    iteration.end_ns = iteration.start_ns + std::llround(simulation.iteration_s * 1e9);
    block.iterations.push_back(iteration);
    block.critical_path_ms.push_back(critical_path_ms(plan, runners, n));
    if (recorder == nullptr) continue;
    for (Span span : simulation.spans) {
      span.iteration = iteration.index;
      span.start_ns += iteration.start_ns;
      span.end_ns += iteration.start_ns;
      recorder->record(span);
    }
    recorder->flush();  // virtual time is faster than the drain thread
  }
  return block;
}

std::vector<CodecWork> codec_work_of(const RankRunners& runners) {
  std::vector<CodecWork> all;
  for (const auto& runner : runners) {
    for (const std::vector<CodecWork>& of_stream : runner->codec_work()) {
      all.insert(all.end(), of_stream.begin(), of_stream.end());
    }
  }
  return all;
}

SimulationInput simulation_of(const RunPlan& plan, const RankRunners& runners, std::size_t n) {
  SimulationInput input;
  input.schedule = plan.schedule;
  input.ranks = plan.ranks();
  input.fast_domain = plan.topology.fast_domain;
  input.intra = plan.topology.intra;
  input.inter = plan.topology.inter;
  input.overlap_cost = plan.topology.gpu.overlap_cost.value;
  const std::size_t steps = plan.schedule.steps.size();
  for (std::size_t i = 0; i < steps; ++i) {
    StepLoad& step = input.steps.emplace_back();
    const StepTimes& first = runners.front()->times()[n * steps + i];
    for (std::size_t e = 0; e <= first.exchange_count; ++e) {
      StepPart& part = step.parts.emplace_back();
      if (e < first.exchange_count) part.barrier = barrier_of(first.exchanges[e].group);
      for (const auto& runner : runners) {
        part.ranks.push_back(part_of(plan.topology, runner->times()[n * steps + i], e));
      }
    }
  }
  return input;
}

}  // namespace shardscope::engine
