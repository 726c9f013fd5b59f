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

/// Moves a begin back by the time that an exchange of `own` seconds, begun then, shares its wire
/// with one of `other` seconds that ends at `until`. Nothing that grows makes the result fall.
void share_wire(std::vector<double>& begin, const std::vector<double>& own,
                const std::vector<double>& other, const std::vector<double>& until) {
  const std::size_t count = begin.size();
  double* __restrict at = begin.data();
  const double* __restrict mine = own.data();
  const double* __restrict theirs = other.data();
  const double* __restrict end = until.data();
  for (std::size_t r = 0; r < count; ++r)
    at[r] += std::min(std::min(mine[r], theirs[r]), std::max(0.0, end[r] - at[r]));
}

/// A link's seconds with the latency of the last number of peers kept: it hardly ever changes.
class LinkPrice {
 public:
  explicit LinkPrice(const LinkModel& link)
      : link_(link), rate_(link.bytes_per_s.value * link.efficiency.value) {}

  void price(const WireLoad& moved, double delay, double& latency, double& transfer) {
    latency = delay;
    transfer = 0;
    if (moved.peers <= 0) return;
    if (moved.peers != peers_) {
      peers_ = moved.peers;
      latency_ = link_.seconds(0, peers_);
    }
    latency += latency_;
    const double bytes = std::max(moved.sent_bytes * link_.sender_share, moved.received_bytes);
    if (bytes <= 0) return;
    transfer = link_.by_size.empty() && rate_ > 0 ? bytes / rate_
                                                  : link_.seconds(bytes, peers_) - latency_;
  }

 private:
  const LinkModel& link_;
  double rate_;
  std::int32_t peers_ = -1;
  double latency_ = 0;
};

const std::vector<std::int32_t> kNone;

void prepare(PartTimes& times, std::size_t ranks) {
  for (auto* column : {&times.ready, &times.kernel_end, &times.begin, &times.own_end, &times.end})
    column->resize(ranks);
}

}  // namespace

TimedPart::TimedPart(std::int32_t ranks, Barrier participants) : barrier(participants) {
  for (auto* column : {&kernel_s, &intra_latency_s, &intra_s, &inter_latency_s, &inter_s})
    column->assign(size_of(ranks), 0.0);
}

void in_seconds(const std::vector<StepLoad>& loads, const LinkModel& intra, const LinkModel& inter,
                std::vector<TimedStep>& into) {
  LinkPrice near(intra), far(inter);
  into.resize(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    into[i].resize(loads[i].parts.size());
    for (std::size_t p = 0; p < loads[i].parts.size(); ++p) {
      const StepPart& part = loads[i].parts[p];
      TimedPart& timed = into[i][p];
      timed.barrier = part.barrier;
      for (auto* column : {&timed.kernel_s, &timed.intra_latency_s, &timed.intra_s,
                           &timed.inter_latency_s, &timed.inter_s})
        column->resize(part.ranks.size());
      for (std::size_t r = 0; r < part.ranks.size(); ++r) {
        const PartLoad& load = part.ranks[r];
        timed.kernel_s[r] = load.kernel_s;
        near.price(load.intra, load.delay_s, timed.intra_latency_s[r], timed.intra_s[r]);
        far.price(load.inter, load.delay_s, timed.inter_latency_s[r], timed.inter_s[r]);
      }
    }
  }
}

Timeline::Timeline(const Schedule& schedule, std::int32_t ranks, std::int32_t fast_domain,
                   double overlap_cost, WireSharing sharing)
    : schedule_(schedule),
      ranks_(ranks),
      fast_domain_(fast_domain),
      overlap_cost_(overlap_cost),
      wires_priced_(sharing == WireSharing::priced) {
  SHARDSCOPE_CHECK(ranks > 0 && fast_domain > 0 && ranks % fast_domain == 0,
                   "the fast domain divides the ranks");
  find_order();
  sequence_ = side_streams_first();
  find_contention();
}

void Timeline::find_order() {
  const std::size_t count = schedule_.steps.size();
  order_.assign(count, {});
  before_.assign(count, std::vector<bool>(count));
  std::vector<std::int32_t> last(256, -1), newest(256, -1);
  for (std::size_t i = 0; i < count; ++i) last[schedule_.steps[i].stream] = static_cast<int>(i);
  for (std::size_t i = 0; i < count; ++i) {
    const ScheduleStep& step = schedule_.steps[i];
    StepOrder& order = order_[i];
    order.predecessor = newest[step.stream];
    newest[step.stream] = static_cast<std::int32_t>(i);
    const auto follow = [&](std::size_t j) {
      before_[i][j] = true;
      for (std::size_t k = 0; k < count; ++k)
        if (before_[j][k]) before_[i][k] = true;
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
      if (consumes || same_stream) order.prefetches.push_back(static_cast<std::int32_t>(j));
    }
  }
}

std::vector<std::size_t> Timeline::side_streams_first() const {
  const std::size_t count = schedule_.steps.size();
  std::vector<std::size_t> sequence;
  std::vector<bool> done(count);
  const auto may_run = [&](std::size_t i) {
    const std::int32_t predecessor = order_[i].predecessor;
    const auto& waits = schedule_.steps[i].waits;
    return !done[i] && (predecessor < 0 || done[size_of(predecessor)]) &&
           std::all_of(waits.begin(), waits.end(), [&](std::uint16_t wait) { return done[wait]; });
  };
  while (sequence.size() < count) {
    std::size_t next = count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!may_run(i)) continue;
      if (next == count || schedule_.steps[i].stream > schedule_.steps[next].stream) next = i;
    }
    done[next] = true;
    sequence.push_back(next);
  }
  return sequence;
}

/// The step that a side step's kernels slow down: on the lowest stream below its own, the first
/// that runs kernels and is ordered with it by nothing. A prefetch is enqueued to meet the backward
/// pass: there the first step of that pass. -1: it runs alone.
std::int32_t Timeline::kernel_payer(std::size_t step) const {
  const ScheduleStep& side = schedule_.steps[step];
  std::int32_t payer = -1;
  const auto better = [&](std::size_t i) {
    if (payer < 0) return true;
    const ScheduleStep& now = schedule_.steps[size_of(payer)];
    const ScheduleStep& other = schedule_.steps[i];
    if (other.stream != now.stream) return other.stream < now.stream;
    return side.next_batch && other.stage == Stage::dense_backward &&
           now.stage != Stage::dense_backward;
  };
  for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
    const ScheduleStep& main = schedule_.steps[i];
    if (main.stream >= side.stream || is_exchange(main.stage) || main.next_batch) continue;
    if (before_[step][i] || before_[i][step]) continue;
    if (better(i)) payer = static_cast<std::int32_t>(i);
  }
  return payer;
}

void Timeline::find_contention() {
  const std::size_t count = schedule_.steps.size();
  for (std::size_t j = 0; j < count; ++j) {
    const std::int32_t payer = kernel_payer(j);
    if (payer >= 0) order_[size_of(payer)].slowed_by.push_back(static_cast<std::int32_t>(j));
  }
  // Wires: exchanges of lower streams that nothing orders with a side exchange. A prefetch is
  // enqueued to meet the end of the backward pass: of every stream the last one.
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t j = sequence_[n];
    const ScheduleStep& side = schedule_.steps[j];
    if (!is_exchange(side.stage)) continue;
    std::vector<std::int32_t> last(256, -1);
    for (std::size_t m = n + 1; m < count; ++m) {
      const std::size_t i = sequence_[m];
      const ScheduleStep& main = schedule_.steps[i];
      if (main.stream >= side.stream || !is_exchange(main.stage)) continue;
      if (before_[i][j] || before_[j][i]) continue;
      last[main.stream] = static_cast<std::int32_t>(i);
      if (!side.next_batch) order_[i].shares_wires.push_back(static_cast<std::int32_t>(j));
    }
    for (const std::int32_t i : last)
      if (i >= 0 && side.next_batch)
        order_[size_of(i)].shares_wires.push_back(static_cast<std::int32_t>(j));
  }
}

std::vector<std::size_t> Timeline::common_ancestors(std::size_t a, std::size_t b) const {
  std::vector<std::size_t> common;
  for (std::size_t i = 0; i < before_.size(); ++i)
    if (before_[a][i] && before_[b][i]) common.push_back(i);
  return common;
}

double Timeline::run(const std::vector<TimedStep>& steps) {
  SHARDSCOPE_CHECK(steps.size() == order_.size(), "one load a schedule step");
  const std::size_t ranks = size_of(ranks_);
  times_.resize(steps.size());
  prefetched_.assign(steps.size(), {});
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SHARDSCOPE_CHECK(!steps[i].empty(), "a step has at least one part");
    // The empty pipeline: nothing of an earlier run may stand in the prefetch steps.
    if (schedule_.steps[i].next_batch) times_[i].clear();
    times_[i].resize(steps[i].size());
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
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (schedule_.steps[i].next_batch) prefetched_[i] = times_[i].back().end;
  for (const std::size_t i : sequence_) {
    for (std::size_t p = 0; p < steps[i].size(); ++p) {
      if (p == 0) {
        find_ready(i, times_[i][p].ready);
      } else {
        times_[i][p].ready = times_[i][p - 1].end;
      }
      run_kernels(steps, i, p);
      run_exchange(steps, i, p);
    }
    if (i == hold_.step) apply_hold(i);
    if (!schedule_.steps[i].next_batch) raise(end_, times_[i].back().end);
  }
}

void Timeline::apply_hold(std::size_t step) {
  std::vector<double> until = start_;
  for (const std::size_t ancestor : hold_.ancestors) raise(until, end_of(ancestor));
  std::vector<double>& end = times_[step].back().end;
  held_ = false;
  for (std::size_t r = 0; r < end.size(); ++r) {
    if (until[r] + hold_.seconds <= end[r]) continue;
    end[r] = until[r] + hold_.seconds;
    held_ = true;
  }
}

void Timeline::find_ready(std::size_t step, std::vector<double>& ready) const {
  ready = start_;
  const StepOrder& order = order_[step];
  if (order.predecessor >= 0) raise(ready, end_of(size_of(order.predecessor)));
  for (const std::uint16_t wait : schedule_.steps[step].waits) raise(ready, end_of(wait));
  for (const std::int32_t j : order.prefetches) raise(ready, prefetched_[size_of(j)]);
}

void Timeline::run_kernels(const std::vector<TimedStep>& steps, std::size_t step,
                           std::size_t part) {
  PartTimes& times = times_[step][part];
  const std::vector<double>& own = steps[step][part].kernel_s;
  for (std::size_t r = 0; r < own.size(); ++r) times.kernel_end[r] = times.ready[r] + own[r];
  if (part > 0 || overlap_cost_ <= 0) return;
  for (const std::int32_t j : order_[step].slowed_by)
    for (const TimedPart& side : steps[size_of(j)])
      for (std::size_t r = 0; r < own.size(); ++r)
        times.kernel_end[r] += overlap_cost_ * side.kernel_s[r];
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
    for (const std::int32_t j : wires_priced_ ? order_[step].shares_wires : kNone)
      for (std::size_t p = 0; p < steps[size_of(j)].size(); ++p)
        if (steps[size_of(j)][p].barrier != Barrier::none)
          share_wire(scratch_, transfer, steps[size_of(j)][p].*field,
                     times_[size_of(j)][p].own_end);
    for (std::size_t r = 0; r < scratch_.size(); ++r)
      times.own_end[r] = std::max(times.own_end[r], scratch_[r] + latency[r] + transfer[r]);
  };
  times.own_end = times.begin;
  wire(load.intra_latency_s, load.intra_s, &TimedPart::intra_s);
  wire(load.inter_latency_s, load.inter_s, &TimedPart::inter_s);
  group_max(load.barrier, times.own_end, times.end);
}

double Timeline::slowed_by(const std::vector<TimedStep>& steps, std::size_t step,
                           std::size_t rank) const {
  double seconds = 0;
  for (const std::int32_t j : order_[step].slowed_by)
    for (const TimedPart& side : steps[size_of(j)]) seconds += overlap_cost_ * side.kernel_s[rank];
  return seconds;
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
