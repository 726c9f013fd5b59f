#include "planner/simulate.hpp"

#include <algorithm>
#include <cmath>

#include "layout/invariant.hpp"
#include "planner/critical_path.hpp"
#include "planner/timeline.hpp"

namespace shardscope {

namespace {

std::vector<TimedStep> timed_steps(const SimulationInput& input) {
  SHARDSCOPE_CHECK(input.steps.size() == input.schedule.steps.size(), "one load a schedule step");
  for (const StepLoad& step : input.steps)
    for (const StepPart& part : step.parts)
      SHARDSCOPE_CHECK(part.ranks.size() == static_cast<std::size_t>(input.ranks),
                       "one load a rank");
  std::vector<TimedStep> steps;
  in_seconds(input.steps, input.intra, input.inter, steps);
  return steps;
}

std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

/// Working and waiting pieces of one step on one rank; touching pieces of a kind are one span.
void append_spans(const SimulationInput& input, const Timeline& timeline, std::size_t step,
                  std::int32_t rank, double origin, std::vector<Span>& spans) {
  const auto r = static_cast<std::size_t>(rank);
  const ScheduleStep& what = input.schedule.steps[step];
  Span work;
  work.stage = what.stage;
  work.work = what.work;
  work.stream = what.stream;
  work.rank = rank;
  Span open = work;
  open.start_ns = nanoseconds(timeline.times(step, 0).ready[r] - origin);
  const std::vector<StepPart>& parts = input.steps[step].parts;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const PartTimes& times = timeline.times(step, p);
    const PartLoad& load = parts[p].ranks[r];
    open.busy_ns += nanoseconds(times.kernel_end[r] - times.ready[r]);
    open.end_ns = nanoseconds(times.kernel_end[r] - origin);
    const std::int64_t begin = nanoseconds(times.begin[r] - origin);
    if (begin > open.end_ns) {
      Span wait = work;
      wait.waiting = true;
      wait.start_ns = open.end_ns;
      wait.end_ns = begin;
      if (open.end_ns > open.start_ns || open.intra_bytes + open.inter_bytes > 0)
        spans.push_back(open);
      spans.push_back(wait);
      open = work;
      open.start_ns = begin;
    }
    open.end_ns = nanoseconds(times.end[r] - origin);
    open.intra_bytes += std::llround(load.intra.sent_bytes);
    open.inter_bytes += std::llround(load.inter.sent_bytes);
    open.rows += load.rows;
  }
  spans.push_back(open);
}

}  // namespace

Simulation simulate(const SimulationInput& input) {
  const std::vector<TimedStep> steps = timed_steps(input);
  Timeline timeline(input.schedule, input.ranks, input.fast_domain, input.overlap_cost);
  Simulation result;
  result.iteration_s = timeline.run(steps);
  result.steady = timeline.steady();

  const auto ranks = static_cast<std::size_t>(input.ranks);
  const double origin =
      *std::min_element(timeline.iteration_start().begin(), timeline.iteration_start().end());
  result.steps.resize(steps.size() * ranks);
  result.waiting_s.assign(ranks, 0.0);
  result.busy_s.assign(ranks, 0.0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t r = 0; r < ranks; ++r) {
      SimulatedStep& step = result.steps[i * ranks + r];
      step.start_s = timeline.times(i, 0).ready[r] - origin;
      for (std::size_t p = 0; p < steps[i].size(); ++p) {
        const PartTimes& times = timeline.times(i, p);
        step.end_s = times.end[r] - origin;
        step.waiting_s += times.begin[r] - times.kernel_end[r];
        step.busy_s += times.kernel_end[r] - times.ready[r];
      }
      result.waiting_s[r] += step.waiting_s;
      result.busy_s[r] += step.busy_s;
    }
  }
  for (std::int32_t r = 0; r < input.ranks; ++r)
    for (std::size_t i = 0; i < steps.size(); ++i)
      append_spans(input, timeline, i, r, origin, result.spans);
  result.critical_path = critical_path(input.schedule, steps, timeline);
  return result;
}

double simulated_iteration_seconds(const SimulationInput& input) {
  Timeline timeline(input.schedule, input.ranks, input.fast_domain, input.overlap_cost);
  return timeline.run(timed_steps(input));
}

}  // namespace shardscope
