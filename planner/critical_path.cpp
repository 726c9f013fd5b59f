#include "planner/critical_path.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

/// Rank of the group whose time is largest (the one everybody waits for).
std::int32_t slowest_of(const Timeline& timeline, Barrier barrier, std::int32_t rank,
                        const std::vector<double>& times) {
  const Timeline::GroupShape group = timeline.group_of(barrier, rank);
  std::int32_t slowest = group.first;
  for (std::int32_t m = 1; m < group.count; ++m) {
    const std::int32_t candidate = group.first + m * group.stride;
    if (times[static_cast<std::size_t>(candidate)] > times[static_cast<std::size_t>(slowest)])
      slowest = candidate;
  }
  return slowest;
}

struct Cause {
  std::int32_t step = -1;  ///< -1: the iteration's begin
  bool previous = false;   ///< a prefetch of the iteration before
};

/// What let `step` begin on `rank`: the latest of everything it waits for.
Cause cause_of(const Schedule& schedule, const Timeline& timeline, std::size_t step,
               std::size_t rank) {
  Cause cause;
  double latest = timeline.iteration_start()[rank];
  const auto consider = [&](std::int32_t candidate, double end, bool previous) {
    if (end > latest) {
      latest = end;
      cause = {candidate, previous};
    }
  };
  const auto end_of = [&](std::int32_t candidate) {
    return timeline.end_of(static_cast<std::size_t>(candidate))[rank];
  };
  const std::int32_t before = timeline.stream_predecessor(step);
  if (before >= 0) consider(before, end_of(before), false);
  for (const std::uint16_t wait : schedule.steps[step].waits) consider(wait, end_of(wait), false);
  for (const std::int32_t input : timeline.prefetch_inputs(step))
    consider(input, timeline.prefetched(static_cast<std::size_t>(input))[rank], true);
  return cause;
}

}  // namespace

std::vector<CriticalPiece> critical_path(const Schedule& schedule,
                                         const std::vector<TimedStep>& steps,
                                         const Timeline& timeline) {
  std::vector<CriticalPiece> path;
  if (steps.empty()) return path;
  const std::vector<double>& ends = timeline.iteration_end();
  auto rank = static_cast<std::int32_t>(std::max_element(ends.begin(), ends.end()) - ends.begin());
  std::int32_t step = -1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (schedule.steps[i].next_batch) continue;
    const auto r = static_cast<std::size_t>(rank);
    if (step < 0 || timeline.end_of(i)[r] > timeline.end_of(static_cast<std::size_t>(step))[r])
      step = static_cast<std::int32_t>(i);
  }
  const auto add = [&](std::int32_t at, bool exchange, double start, double end) {
    if (end > start)
      path.push_back({static_cast<std::uint16_t>(at), rank, exchange, false, start, end});
  };
  while (step >= 0) {
    const auto s = static_cast<std::size_t>(step);
    for (std::size_t p = steps[s].size(); p-- > 0;) {
      const PartTimes& times = timeline.times(s, p);
      const Barrier barrier = steps[s][p].barrier;
      rank = slowest_of(timeline, barrier, rank, times.own_end);
      add(step, true, times.begin[static_cast<std::size_t>(rank)],
          times.own_end[static_cast<std::size_t>(rank)]);
      rank = slowest_of(timeline, barrier, rank, times.kernel_end);
      add(step, false, times.ready[static_cast<std::size_t>(rank)],
          times.kernel_end[static_cast<std::size_t>(rank)]);
    }
    const auto r = static_cast<std::size_t>(rank);
    const Cause cause = cause_of(schedule, timeline, s, r);
    if (cause.previous) {
      const auto prefetch = static_cast<std::size_t>(cause.step);
      path.push_back({static_cast<std::uint16_t>(cause.step), rank, true, true,
                      timeline.iteration_start()[r], timeline.prefetched(prefetch)[r]});
      break;
    }
    step = cause.step;
  }
  std::reverse(path.begin(), path.end());
  const double origin =
      *std::min_element(timeline.iteration_start().begin(), timeline.iteration_start().end());
  for (CriticalPiece& piece : path) {
    piece.start_s -= origin;
    piece.end_s -= origin;
  }
  return path;
}

std::int32_t critical_rank_of(const Simulation& simulation) {
  std::size_t critical = 0;
  for (std::size_t r = 1; r < simulation.waiting_s.size(); ++r) {
    const double less = simulation.waiting_s[critical] - simulation.waiting_s[r];
    const bool tie = std::abs(less) <= 1e-12;
    if (tie ? simulation.busy_s[r] > simulation.busy_s[critical] : less > 0) critical = r;
  }
  return static_cast<std::int32_t>(critical);
}

}  // namespace shardscope
