#include "planner/timeline.hpp"

#include <algorithm>
#include <cmath>

#include "layout/invariant.hpp"

namespace shardscope {

namespace {

std::size_t size_of(std::int32_t count) {
  return static_cast<std::size_t>(count);
}

void raise(std::vector<double>& to, const std::vector<double>& from) {
  double* __restrict target = to.data();
  const double* __restrict source = from.data();
  const std::size_t count = to.size();
  for (std::size_t r = 0; r < count; ++r) target[r] = std::max(target[r], source[r]);
}

/// Moves a start back by `share` of the time that work of `own` seconds, begun then, overlaps work
/// of `other` seconds that ends at `other_end`. Bounded by both, and applied to the start one piece
/// of other work after the other: so no start, load or end that grows makes the result fall.
void delay_by_overlap(std::vector<double>& start, double share, const std::vector<double>& own,
                      const std::vector<double>& other, const std::vector<double>& other_end) {
  const std::size_t count = start.size();
  double* __restrict begin = start.data();
  const double* __restrict mine = own.data();
  const double* __restrict theirs = other.data();
  const double* __restrict until = other_end.data();
  for (std::size_t r = 0; r < count; ++r)
    begin[r] += share * std::min(std::min(mine[r], theirs[r]), std::max(0.0, until[r] - begin[r]));
}

void prepare(PartTimes& times, std::size_t ranks) {
  for (auto* column : {&times.ready, &times.kernel_end, &times.begin, &times.own_end, &times.end})
    column->resize(ranks);
}

}  // namespace

TimedPart::TimedPart(std::int32_t ranks, Barrier participants) : barrier(participants) {
  for (auto* column : {&kernel_s, &intra_latency_s, &intra_s, &inter_latency_s, &inter_s})
    column->assign(size_of(ranks), 0.0);
}

void TimedPart::set(std::int32_t rank, const PartLoad& load, const LinkModel& intra,
                    const LinkModel& inter) {
  const auto r = size_of(rank);
  kernel_s[r] = load.kernel_s;
  const auto wire = [&](const WireLoad& moved, const LinkModel& link, double& latency,
                        double& transfer) {
    latency = load.delay_s;
    transfer = 0;
    if (moved.peers <= 0) return;
    const double alone = link.seconds(0, moved.peers);
    const double bytes = std::max(moved.sent_bytes, moved.received_bytes);
    latency += alone;
    transfer = std::max(0.0, link.seconds(bytes, moved.peers) - alone);
  };
  wire(load.intra, intra, intra_latency_s[r], intra_s[r]);
  wire(load.inter, inter, inter_latency_s[r], inter_s[r]);
}

Timeline::Timeline(const Schedule& schedule, std::int32_t ranks, std::int32_t fast_domain,
                   double overlap_cost)
    : schedule_(schedule), ranks_(ranks), fast_domain_(fast_domain), overlap_cost_(overlap_cost) {
  SHARDSCOPE_CHECK(ranks > 0 && fast_domain > 0 && ranks % fast_domain == 0,
                   "the fast domain divides the ranks");
  find_order();
}

void Timeline::find_order() {
  const std::size_t count = schedule_.steps.size();
  order_.assign(count, {});
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  std::vector<std::vector<bool>> uses(count, std::vector<bool>(count));  // prefetches, transitively
  std::vector<std::int32_t> last(256, -1);
  for (std::size_t i = 0; i < count; ++i) last[schedule_.steps[i].stream] = static_cast<int>(i);
  std::vector<std::int32_t> newest(256, -1);

  for (std::size_t i = 0; i < count; ++i) {
    const ScheduleStep& step = schedule_.steps[i];
    StepOrder& order = order_[i];
    order.predecessor = newest[step.stream];
    newest[step.stream] = static_cast<std::int32_t>(i);

    const auto follow = [&](std::size_t j) {
      before[i][j] = true;
      for (std::size_t k = 0; k < count; ++k) {
        if (before[j][k]) before[i][k] = true;
        if (uses[j][k]) uses[i][k] = true;
      }
    };
    if (order.predecessor >= 0) follow(size_of(order.predecessor));
    for (const std::uint16_t wait : step.waits) {
      SHARDSCOPE_CHECK(wait < i, "a step waits for earlier steps of its iteration");
      follow(wait);
    }
    for (std::size_t j = 0; j < count; ++j) {
      const ScheduleStep& other = schedule_.steps[j];
      if (!other.next_batch) continue;
      const bool consumes = !step.next_batch && other.work == step.work;
      const bool same_stream = order.predecessor < 0 && last[step.stream] == static_cast<int>(j);
      if (consumes || same_stream) {
        order.prefetches.push_back(static_cast<std::int32_t>(j));
        uses[i][j] = true;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (!before[i][j]) order_[i].overlaps.push_back(static_cast<std::int32_t>(j));
    for (std::size_t j = 0; j < count; ++j)
      if (schedule_.steps[j].next_batch && !uses[i][j])
        order_[i].previous_overlaps.push_back(static_cast<std::int32_t>(j));
  }
}

double Timeline::run(const std::vector<TimedStep>& steps) {
  SHARDSCOPE_CHECK(steps.size() == order_.size(), "one load a schedule step");
  const std::size_t ranks = size_of(ranks_);
  times_.resize(steps.size());
  previous_.assign(steps.size(), {});
  prefetched_.assign(steps.size(), {});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SHARDSCOPE_CHECK(!steps[i].empty(), "a step has at least one part");
    times_[i].resize(steps[i].size());
    // The empty pipeline: nothing of an earlier run may stand in the prefetch steps.
    if (schedule_.steps[i].next_batch) {
      prefetched_[i].assign(ranks, 0.0);
      for (PartTimes& times : times_[i]) times = PartTimes{};
    }
    for (PartTimes& times : times_[i]) prepare(times, ranks);
  }
  end_.assign(ranks, 0.0);
  scratch_.assign(ranks, 0.0);

  std::vector<double> increments(ranks, -1.0);
  double slowest = 0;
  steady_ = false;
  for (int iteration = 0; iteration < kMaxIterations && !steady_; ++iteration) {
    iterate(steps);
    bool same = iteration > 0;
    slowest = 0;
    for (std::size_t r = 0; r < ranks; ++r) slowest = std::max(slowest, end_[r] - start_[r]);
    for (std::size_t r = 0; r < ranks; ++r) {
      const double increment = end_[r] - start_[r];
      // Rounding of absolute times, not a drift.
      if (std::abs(increment - increments[r]) > 1e-9 * slowest) same = false;
      increments[r] = increment;
    }
    // Two equal differences: the first may still carry the empty pipeline's.
    steady_ = same && iteration > 1;
  }
  return slowest;
}

void Timeline::iterate(const std::vector<TimedStep>& steps) {
  start_ = end_;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!schedule_.steps[i].next_batch) continue;
    if (!previous_[i].empty()) prefetched_[i] = times_[i].back().end;
    previous_[i] = times_[i];
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t p = 0; p < steps[i].size(); ++p) {
      if (p == 0) {
        find_ready(i, times_[i][p].ready);
      } else {
        times_[i][p].ready = times_[i][p - 1].end;
      }
      run_kernels(steps, i, p);
      run_exchange(steps, i, p);
    }
    if (!schedule_.steps[i].next_batch) raise(end_, times_[i].back().end);
  }
}

void Timeline::find_ready(std::size_t step, std::vector<double>& ready) const {
  ready = start_;
  const StepOrder& order = order_[step];
  if (order.predecessor >= 0) raise(ready, times_[size_of(order.predecessor)].back().end);
  for (const std::uint16_t wait : schedule_.steps[step].waits)
    raise(ready, times_[wait].back().end);
  for (const std::int32_t j : order.prefetches) raise(ready, prefetched_[size_of(j)]);
}

template <class Visit>
void Timeline::for_overlaps(const std::vector<TimedStep>& steps, std::size_t step,
                            Visit visit) const {
  for (const std::int32_t j : order_[step].overlaps)
    for (std::size_t p = 0; p < steps[size_of(j)].size(); ++p)
      visit(steps[size_of(j)][p], times_[size_of(j)][p]);
  for (const std::int32_t j : order_[step].previous_overlaps)
    for (std::size_t p = 0; p < steps[size_of(j)].size(); ++p)
      visit(steps[size_of(j)][p], previous_[size_of(j)][p]);
}

void Timeline::run_kernels(const std::vector<TimedStep>& steps, std::size_t step,
                           std::size_t part) {
  const TimedPart& load = steps[step][part];
  PartTimes& times = times_[step][part];
  times.kernel_end = times.ready;
  if (overlap_cost_ > 0) {
    for_overlaps(steps, step, [&](const TimedPart& other, const PartTimes& when) {
      delay_by_overlap(times.kernel_end, overlap_cost_, load.kernel_s, other.kernel_s,
                       when.kernel_end);
    });
  }
  for (std::size_t r = 0; r < times.kernel_end.size(); ++r) times.kernel_end[r] += load.kernel_s[r];
}

void Timeline::run_exchange(const std::vector<TimedStep>& steps, std::size_t step,
                            std::size_t part) {
  const TimedPart& load = steps[step][part];
  PartTimes& times = times_[step][part];
  if (load.barrier == Barrier::none) {
    times.begin = times.own_end = times.end = times.kernel_end;
    return;
  }
  group_max(load.barrier, times.kernel_end, times.begin);
  const auto wire = [&](const std::vector<double>& latency, const std::vector<double>& transfer,
                        std::vector<double> TimedPart::*field) {
    scratch_ = times.begin;
    for_overlaps(steps, step, [&](const TimedPart& other, const PartTimes& when) {
      if (other.barrier == Barrier::none) return;
      delay_by_overlap(scratch_, 1.0, transfer, other.*field, when.own_end);
    });
    for (std::size_t r = 0; r < scratch_.size(); ++r)
      times.own_end[r] = std::max(times.own_end[r], scratch_[r] + latency[r] + transfer[r]);
  };
  times.own_end = times.begin;
  wire(load.intra_latency_s, load.intra_s, &TimedPart::intra_s);
  wire(load.inter_latency_s, load.inter_s, &TimedPart::inter_s);
  group_max(load.barrier, times.own_end, times.end);
}

Timeline::GroupShape Timeline::group_of(Barrier barrier, std::int32_t rank) const {
  switch (barrier) {
    case Barrier::none:
      return {rank, 1, 1};
    case Barrier::flat:
      return {0, 1, ranks_};
    case Barrier::domain:
      return {rank / fast_domain_ * fast_domain_, 1, fast_domain_};
    case Barrier::rail:
      return {rank % fast_domain_, fast_domain_, ranks_ / fast_domain_};
  }
  return {rank, 1, 1};
}

void Timeline::group_max(Barrier barrier, const std::vector<double>& from,
                         std::vector<double>& to) const {
  if (barrier == Barrier::flat) {
    std::fill(to.begin(), to.end(), *std::max_element(from.begin(), from.end()));
    return;
  }
  const std::int32_t groups = barrier == Barrier::domain ? ranks_ / fast_domain_ : fast_domain_;
  for (std::int32_t g = 0; g < groups; ++g) {
    const GroupShape group = group_of(barrier, barrier == Barrier::domain ? g * fast_domain_ : g);
    double last = 0;
    for (std::int32_t m = 0; m < group.count; ++m)
      last = std::max(last, from[size_of(group.first + m * group.stride)]);
    for (std::int32_t m = 0; m < group.count; ++m)
      to[size_of(group.first + m * group.stride)] = last;
  }
}

}  // namespace shardscope
