#include "planner/mean_iteration.hpp"

#include <algorithm>
#include <utility>

namespace shardscope {

namespace {

/// A chain longer than this many periods would be a bug: the schedule has one prefetch stage.
constexpr int kMostIterations = 8;

/// The fastest line of a link: its latency and its best rate. Never above the link's seconds.
LinkModel line_below(const LinkModel& link) {
  LinkModel line = link;
  if (link.by_size.empty()) return line;
  line.by_size.clear();
  line.efficiency.value = 1;
  line.bytes_per_s.value = 0;
  for (const BandwidthPoint& point : link.by_size)
    line.bytes_per_s.value = std::max(line.bytes_per_s.value, point.bytes_per_s);
  return line;
}

/// The rank with that part: what goes over wires stays the mean of its groups.
void keep_only(const HeaviestPart& part, LayoutLoads& loads) {
  for (OwnerLoad* owner : {&loads.rb.front(), &loads.ub.front()}) {
    owner->gather_bytes = owner->reduce_bytes = owner->update_bytes = 0;
    owner->keys = owner->pieces = owner->id_lists = 0;
    owner->domain_elements = 0;
    owner->domain_bytes = {};
  }
  loads.domains.front().rail_elements = 0;
  loads.rb.front().gather_bytes = part.gather_bytes;
  loads.rb.front().reduce_bytes = part.reduce_bytes;
  loads.rb.front().update_bytes = part.update_bytes;
}

}  // namespace

MeanIteration::MeanIteration(const WorkloadFacts& facts, const Topology& topology,
                             const ExecutorModel& executor, const DenseCost& dense,
                             const Schedule& schedule, FormSet present, WireCase wire_case,
                             std::optional<HeaviestPart> heaviest)
    : topology_(topology),
      intra_(line_below(topology.intra)),
      inter_(line_below(topology.inter)),
      steps_(facts, topology, executor, dense),
      schedule_(schedule),
      timeline_(schedule, 1, 1, topology.gpu.overlap_cost.value, WireSharing::known),
      present_(present),
      case_(wire_case),
      heaviest_(heaviest) {
  find_meeting();
}

/// The first all-reduce that meets backward exchanges, and what all of them wait for.
void MeanIteration::find_meeting() {
  for (std::size_t i = 0; i < schedule_.steps.size() && exchanges_.empty(); ++i) {
    if (schedule_.steps[i].stage != Stage::allreduce) continue;
    allreduce_ = i;
    for (const std::int32_t j : timeline_.meets(i)) {
      const ScheduleStep& other = schedule_.steps[static_cast<std::size_t>(j)];
      if (other.stage != Stage::network_backward || other.next_batch) continue;
      // One stream: the first of them is then in front of the others.
      if (!exchanges_.empty() && schedule_.steps[exchanges_.front()].stream != other.stream)
        continue;
      exchanges_.push_back(static_cast<std::size_t>(j));
    }
  }
  if (exchanges_.empty()) return;
  before_both_ = timeline_.common_ancestors(allreduce_, exchanges_.front());
  for (const std::size_t exchange : exchanges_) {
    const std::vector<std::size_t> also = timeline_.common_ancestors(allreduce_, exchange);
    std::erase_if(before_both_, [&](std::size_t step) {
      return std::find(also.begin(), also.end(), step) == also.end();
    });
  }
  // The last of them on the all-reduce's stream, if there is one, is what the steps between follow.
  for (std::int32_t step = timeline_.stream_predecessor(allreduce_); step >= 0;
       step = timeline_.stream_predecessor(static_cast<std::size_t>(step))) {
    const auto s = static_cast<std::size_t>(step);
    if (std::find(before_both_.begin(), before_both_.end(), s) == before_both_.end()) continue;
    before_both_ = {s};
    return;
  }
}

/// Seconds of dense kernels between before_both_ and the all-reduce, and of what lengthens them.
double MeanIteration::dense_before_allreduce() const {
  double seconds = 0;
  for (std::int32_t step = timeline_.stream_predecessor(allreduce_);
       before_both_.size() == 1 && step >= 0 &&
       static_cast<std::size_t>(step) != before_both_.front();
       step = timeline_.stream_predecessor(static_cast<std::size_t>(step))) {
    const auto s = static_cast<std::size_t>(step);
    if (schedule_.steps[s].stage != Stage::dense_backward) continue;
    for (const TimedPart& part : timed_[s]) seconds += part.kernel_s[0];
    seconds += timeline_.slowed_by(timed_, s, 0);
  }
  return seconds;
}

/// Seconds of kernels and latency between before_both_ and the first exchange's first byte: those
/// behind it on its stream move later.
double MeanIteration::packing_before_exchange(bool far) const {
  double seconds = 0;
  for (const TimedPart& part : timed_[exchanges_.front()]) {
    seconds += part.kernel_s[0];
    if (part.barrier == Barrier::none) continue;
    const double latency = far ? part.inter_latency_s[0] : part.intra_latency_s[0];
    if (latency > 0) return seconds + latency;
  }
  return seconds;
}

/// Exchanges that are counted together: all of them, unless some go flat and some along rails.
MeanIteration::Counted MeanIteration::counted() const {
  const auto has = [&](TableForm form) { return (present_ & form_bit(form)) != 0; };
  if (topology_.domains() == 1 || !has(TableForm::hierarchical) ||
      !(has(TableForm::flat) || has(TableForm::by_unique)))
    return Counted::all;
  return held_seconds(Counted::rails) > held_seconds(Counted::flat) ? Counted::rails
                                                                    : Counted::flat;
}

/// From there to the all-reduce's end. On one domain the fast wire is the one shared.
double MeanIteration::held_seconds(Counted counted) const {
  const bool far = topology_.domains() > 1;
  const TimedPart& reduce = timed_[allreduce_].back();
  if (reduce.barrier == Barrier::none) return 0;
  const auto counts = [&](Barrier barrier) {
    if (counted == Counted::all) return barrier != Barrier::none;
    return barrier == (counted == Counted::flat ? Barrier::flat : Barrier::rail);
  };
  double others = 0;
  for (const std::size_t exchange : exchanges_)
    for (const TimedPart& part : timed_[exchange])
      if (counts(part.barrier)) others += far ? part.inter_s[0] : part.intra_s[0];
  const double later =
      case_.exchange_later ? dense_before_allreduce() : packing_before_exchange(far);
  const double latency = far ? reduce.inter_latency_s[0] : reduce.intra_latency_s[0];
  const double own = far ? reduce.inter_s[0] : reduce.intra_s[0];
  return later + latency + own + (case_.exchange_longer ? own : others);
}

void MeanIteration::load(const LoadFields& sums, Of rank) {
  LayoutLoads loads = mean_loads(sums, topology_);
  if (rank == Of::heaviest) keep_only(*heaviest_, loads);
  // Steps exist by presence, not by how many tables a fractional point gives a form.
  loads.flat_tables = (present_ & form_bit(TableForm::flat)) != 0 ? 1 : 0;
  loads.hierarchical_tables = (present_ & form_bit(TableForm::hierarchical)) != 0 ? 1 : 0;
  steps_.steps(schedule_, loads, loads_);
  in_seconds(loads_, intra_, inter_, timed_);
  if (has_cases()) timeline_.hold({allreduce_, before_both_, held_seconds(counted())});
}

double MeanIteration::run(const LoadFields& sums, Of rank) {
  load(sums, rank);
  return timeline_.run(timed_);
}

double MeanIteration::seconds(const LoadFields& sums) {
  const double mean = run(sums, Of::mean);
  return heaviest_ ? std::max(mean, run(sums, Of::heaviest)) : mean;
}

void MeanIteration::append_step(std::size_t step, std::vector<Link>& links) const {
  for (std::size_t part = 0; part < timed_[step].size(); ++part) {
    links.push_back({step, part, Link::Kind::kernel});
    const TimedPart& timed = timed_[step][part];
    if (timed.barrier == Barrier::none) continue;
    const double intra = timed.intra_latency_s[0] + timed.intra_s[0];
    const double inter = timed.inter_latency_s[0] + timed.inter_s[0];
    links.push_back({step, part, intra > inter ? Link::Kind::intra : Link::Kind::inter});
  }
}

/// Walks from the iteration's end to what caused it, over iterations if a prefetch did, until a
/// step (or an iteration's end) comes back: in the steady state that is a cycle of the period.
MeanIteration::Chain MeanIteration::deciding_chain() const {
  const std::size_t steps = schedule_.steps.size();
  const std::size_t end_node = steps;
  Chain chain;
  std::vector<std::pair<std::size_t, double>> seen(steps + 1, {SIZE_MAX, 0});  // links, iterations
  std::size_t node = end_node;
  double iterations = 0;
  while (iterations < kMostIterations) {
    if (seen[node].first != SIZE_MAX) {
      chain.links.erase(chain.links.begin(),
                        chain.links.begin() + static_cast<std::ptrdiff_t>(seen[node].first));
      chain.iterations = iterations - seen[node].second;
      return chain;
    }
    seen[node] = {chain.links.size(), iterations};
    if (node == end_node) {
      for (std::size_t i = 0; i < steps; ++i) {
        if (schedule_.steps[i].next_batch) continue;
        if (node == end_node || timeline_.end_of(i)[0] > timeline_.end_of(node)[0]) node = i;
      }
      if (node == end_node) break;
      continue;
    }
    std::size_t cause = end_node;
    double latest = timeline_.iteration_start()[0];
    bool earlier = true;
    const auto consider = [&](std::size_t step, double end, bool previous) {
      if (end <= latest) return;
      latest = end;
      cause = step;
      earlier = previous;
    };
    if (node == allreduce_ && timeline_.held()) {
      chain.links.push_back({node, static_cast<std::size_t>(counted()), Link::Kind::held});
      for (const std::size_t step : before_both_) consider(step, timeline_.end_of(step)[0], false);
      if (earlier) iterations += 1;
      node = cause;
      continue;
    }
    append_step(node, chain.links);
    const std::int32_t before = timeline_.stream_predecessor(node);
    if (before >= 0)
      consider(static_cast<std::size_t>(before),
               timeline_.end_of(static_cast<std::size_t>(before))[0], false);
    for (const std::uint16_t wait : schedule_.steps[node].waits)
      consider(wait, timeline_.end_of(wait)[0], false);
    for (const std::int32_t input : timeline_.prefetch_inputs(node))
      consider(static_cast<std::size_t>(input),
               timeline_.prefetched(static_cast<std::size_t>(input))[0], true);
    if (earlier) iterations += 1;
    node = cause;
  }
  return chain;
}

double MeanIteration::length(const Chain& chain) const {
  double sum = 0;
  for (const Link& link : chain.links) {
    if (link.kind == Link::Kind::held) {
      sum += held_seconds(static_cast<Counted>(link.part));
      continue;
    }
    const TimedPart& timed = timed_[link.step][link.part];
    switch (link.kind) {
      case Link::Kind::kernel:
        sum += timed.kernel_s[0];
        if (link.part == 0) sum += timeline_.slowed_by(timed_, link.step, 0);
        break;
      case Link::Kind::intra:
        sum += timed.intra_latency_s[0] + timed.intra_s[0];
        break;
      case Link::Kind::inter:
        sum += timed.inter_latency_s[0] + timed.inter_s[0];
        break;
      case Link::Kind::held:
        break;
    }
  }
  return sum / chain.iterations;
}

MeanIteration::Tangent MeanIteration::tangent(const LoadFields& sums) {
  const double of_heaviest = heaviest_ ? run(sums, Of::heaviest) : 0;
  const Of rank = run(sums, Of::mean) >= of_heaviest ? Of::mean : Of::heaviest;
  if (rank == Of::heaviest) (void)run(sums, rank);
  const Chain chain = deciding_chain();
  Tangent tangent;
  tangent.slope.assign(sums.size(), 0.0);
  LoadFields moved(sums.size(), 0.0);
  load(moved, rank);
  tangent.offset = length(chain);
  // The chain's length is linear in the sums: one whole table's worth of a field shows its slope.
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] <= 0) continue;
    moved[i] = sums[i];
    load(moved, rank);
    tangent.slope[i] = (length(chain) - tangent.offset) / sums[i];
    moved[i] = 0;
  }
  return tangent;
}

}  // namespace shardscope
