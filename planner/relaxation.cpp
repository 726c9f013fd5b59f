#include "planner/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace shardscope {

namespace {

/// A relaxation this near its best known value is as good as solved.
constexpr double kSolved = 5e-4;

/// How far a new tangent moves the point towards its answer.
constexpr double kTowards = 0.5;

/// Rounds without a new tangent and without gain after which nothing more is expected.
constexpr int kStallsBeforeSolved = 4;

/// A chain longer than this many periods would be a bug: the schedule has one prefetch stage.
constexpr int kMostIterations = 8;

std::size_t form_index(TableForm form) {
  return static_cast<std::size_t>(form);
}

/// The nearest point with non-negative entries that sum to 1.
void project_on_simplex(std::vector<double>& weights) {
  std::vector<double> sorted = weights;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, shift = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double candidate = (sum - 1) / static_cast<double>(k + 1);
    if (sorted[k] - candidate > 0) shift = candidate;
  }
  for (double& weight : weights) weight = std::max(0.0, weight - shift);
}

bool same_line(const MeanIteration::Tangent& a, const MeanIteration::Tangent& b) {
  constexpr double kEqual = 1e-9;
  if (std::abs(a.offset - b.offset) > kEqual * std::abs(a.offset)) return false;
  for (std::size_t i = 0; i < a.slope.size(); ++i)
    if (std::abs(a.slope[i] - b.slope[i]) > kEqual * std::abs(a.slope[i])) return false;
  return true;
}

double dot(const LoadFields& a, const LoadFields& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

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

/// An uncut table on one rank in a form.
TablePlacement whole_table(const TableFacts& table, TableForm form) {
  TablePlacement placement;
  placement.column_cuts = {0, static_cast<std::int32_t>(table.dim)};
  placement.cluster = form == TableForm::replicated  ? ClusterType::DP
                      : form == TableForm::by_unique ? ClusterType::UB
                                                     : ClusterType::RB;
  if (placement.cluster != ClusterType::DP) placement.owners = {0};
  return placement;
}

}  // namespace

MeanIteration::MeanIteration(const WorkloadFacts& facts, const Topology& topology,
                             const ExecutorModel& executor, const DenseCost& dense,
                             const Schedule& schedule, FormSet present, WireCase wire_case)
    : topology_(topology),
      intra_(line_below(topology.intra)),
      inter_(line_below(topology.inter)),
      steps_(facts, topology, executor, dense),
      schedule_(schedule),
      timeline_(schedule, 1, 1, topology.gpu.overlap_cost.value, WireSharing::known),
      present_(present),
      case_(wire_case) {
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

void MeanIteration::load(const LoadFields& sums) {
  LayoutLoads loads = mean_loads(sums, topology_);
  // Steps exist by presence, not by how many tables a fractional point gives a form.
  loads.flat_tables = (present_ & form_bit(TableForm::flat)) != 0 ? 1 : 0;
  loads.hierarchical_tables = (present_ & form_bit(TableForm::hierarchical)) != 0 ? 1 : 0;
  steps_.steps(schedule_, loads, loads_);
  in_seconds(loads_, intra_, inter_, timed_);
  if (has_cases()) timeline_.hold({allreduce_, before_both_, held_seconds(counted())});
}

double MeanIteration::seconds(const LoadFields& sums) {
  load(sums);
  return timeline_.run(timed_);
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
  (void)seconds(sums);
  const Chain chain = deciding_chain();
  Tangent tangent;
  tangent.slope.assign(sums.size(), 0.0);
  LoadFields moved(sums.size(), 0.0);
  load(moved);
  tangent.offset = length(chain);
  // The chain's length is linear in the sums: one whole table's worth of a field shows its slope.
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] <= 0) continue;
    moved[i] = sums[i];
    load(moved);
    tangent.slope[i] = (length(chain) - tangent.offset) / sums[i];
    moved[i] = 0;
  }
  return tangent;
}

Relaxation::Relaxation(MeanIteration iteration, const std::vector<TableGroup>& groups,
                       FormSet present)
    : iteration_(std::move(iteration)), groups_(groups), present_(present) {
  // Start from an even mixture, so that every field in use has a price.
  point_.assign(load_field_count(), 0.0);
  for (const TableGroup& group : groups_) {
    double forms = 0;
    for (std::size_t f = 0; f < kTableForms; ++f)
      forms += (group.allowed & present_ & (1U << f)) != 0 ? 1 : 0;
    if (forms == 0) {
      possible_ = false;
      return;
    }
    for (std::size_t f = 0; f < kTableForms; ++f) {
      if ((group.allowed & present_ & (1U << f)) == 0) continue;
      for (std::size_t i = 0; i < point_.size(); ++i)
        point_[i] += group.count * group.sums[f][i] / forms;
      // Half of the traffic through codecs.
      std::array<double, kWireSlots> choices{};
      for (const CodecOption& codec : group.codecs[f]) choices[codec.slot] += 1;
      for (const CodecOption& codec : group.codecs[f])
        for (std::size_t i = 0; i < point_.size(); ++i)
          point_[i] += group.count * codec.change[i] / forms / 2 / choices[codec.slot];
    }
  }
  answers_.resize(groups_.size());
  result_.forms.assign(groups_.size(), TableForm::replicated);
}

LoadFields Relaxation::sums_of(const std::vector<Answer>& answers) const {
  LoadFields sums(load_field_count(), 0.0);
  const auto add = [&](const LoadFields& one, double count) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += count * one[i];
  };
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t form = form_index(answers[g].form);
    add(groups_[g].sums[form], groups_[g].count);
    if (groups_[g].codecs[form].empty()) continue;
    for (const std::int32_t codec : answers[g].codec)
      if (codec >= 0)
        add(groups_[g].codecs[form][static_cast<std::size_t>(codec)].change, groups_[g].count);
  }
  return sums;
}

bool Relaxation::add_tangent(const LoadFields& at) {
  PricedTangent tangent;
  tangent.line = iteration_.tangent(at);
  for (const PricedTangent& known : tangents_)
    if (same_line(known.line, tangent.line)) return false;
  for (const TableGroup& group : groups_) {
    auto& cost = tangent.cost.emplace_back();
    for (std::size_t f = 0; f < kTableForms; ++f)
      cost[f] = (group.allowed & present_ & (1U << f)) != 0 ? dot(tangent.line.slope, group.sums[f])
                                                            : HUGE_VAL;
    auto& codec_cost = tangent.codec_cost.emplace_back();
    for (std::size_t f = 0; f < kTableForms; ++f)
      for (const CodecOption& codec : group.codecs[f])
        codec_cost[f].push_back(dot(tangent.line.slope, codec.change));
  }
  tangents_.push_back(std::move(tangent));
  weights_.push_back(weights_.empty() ? 1.0 : 1.0 / static_cast<double>(weights_.size()));
  project_on_simplex(weights_);
  return true;
}

/// Of a table of the group in that form under a mixture of tangents, with the codecs that lower it.
double Relaxation::cost_of(const std::vector<double>& weights, std::size_t group, std::size_t form,
                           std::array<std::int32_t, kWireSlots>& codec) const {
  const std::size_t count = tangents_.size();
  double cost = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (weights[k] > 0) cost += weights[k] * tangents_[k].cost[group][form];
  const std::vector<CodecOption>& options = groups_[group].codecs[form];
  if (options.empty()) return cost;
  std::array<double, kWireSlots> least{};
  codec.fill(-1);
  for (std::size_t o = 0; o < options.size(); ++o) {
    double change = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (weights[k] > 0) change += weights[k] * tangents_[k].codec_cost[group][form][o];
    if (change >= least[options[o].slot]) continue;
    least[options[o].slot] = change;
    codec[options[o].slot] = static_cast<std::int32_t>(o);
  }
  for (const double change : least) cost += change;
  return cost;
}

/// Cheapest forms and codecs under a mixture of tangents, and each tangent's value there.
void Relaxation::respond(const std::vector<double>& weights, std::vector<Answer>& answers,
                         std::vector<double>& value) const {
  const std::size_t count = tangents_.size();
  for (std::size_t k = 0; k < count; ++k) value[k] = tangents_[k].line.offset;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Answer& answer = answers[g];
    double least = HUGE_VAL;
    for (std::size_t f = 0; f < kTableForms; ++f) {
      if ((groups_[g].allowed & present_ & (1U << f)) == 0) continue;
      std::array<std::int32_t, kWireSlots> codec{};
      const double cost = cost_of(weights, g, f, codec);
      if (cost >= least) continue;
      least = cost;
      answer = {static_cast<TableForm>(f), codec};
    }
    const std::size_t best = form_index(answer.form);
    for (std::size_t k = 0; k < count; ++k)
      value[k] += groups_[g].count * tangents_[k].cost[g][best];
    if (groups_[g].codecs[best].empty()) continue;
    for (const std::int32_t codec : answer.codec)
      for (std::size_t k = 0; codec >= 0 && k < count; ++k)
        value[k] +=
            groups_[g].count * tangents_[k].codec_cost[g][best][static_cast<std::size_t>(codec)];
  }
}

/// Any mixture of tangents is below the function; the cheapest forms under the mixture bound all
/// choices. Climbs to the mixture with the highest such bound, by steps that would reach the best
/// known value at once. What the forms of the later half of the steps ask for on average is the
/// next point.
void Relaxation::combine(double towards, int rounds) {
  const std::size_t count = tangents_.size();
  std::vector<double> weights = weights_, value(count);
  std::vector<Answer> answers(groups_.size());
  LoadFields average(load_field_count(), 0.0);
  double share = 0;
  for (int round = 0; round < rounds; ++round) {
    respond(weights, answers, value);
    double bound = 0, mean = 0, slope = 0;
    for (std::size_t k = 0; k < count; ++k) {
      bound += weights[k] * value[k];
      mean += value[k] / static_cast<double>(count);
    }
    if (bound > result_.seconds || result_.prices.empty()) keep(weights, answers, bound);
    for (std::size_t k = 0; k < count; ++k) slope += (value[k] - mean) * (value[k] - mean);
    if (slope <= 0 || upper_s_ <= bound) break;
    const double step = (upper_s_ - bound) / slope;
    if (2 * round >= rounds) {
      const LoadFields sums = sums_of(answers);
      for (std::size_t i = 0; i < sums.size(); ++i) average[i] += step * sums[i];
      share += step;
    }
    for (std::size_t k = 0; k < count; ++k) weights[k] += step * (value[k] - mean);
    project_on_simplex(weights);
  }
  if (share <= 0) {
    average = sums_of(answers_);
    share = 1;
  }
  // A step towards it, or all the way where the last point taught nothing new.
  for (std::size_t i = 0; i < point_.size(); ++i)
    point_[i] = (1 - towards) * best_point_[i] + towards * average[i] / share;
}

void Relaxation::keep(const std::vector<double>& weights, const std::vector<Answer>& answers,
                      double bound) {
  result_.seconds = std::max(result_.seconds, bound);
  answers_ = answers;
  for (std::size_t g = 0; g < groups_.size(); ++g) result_.forms[g] = answers[g].form;
  result_.prices.assign(load_field_count(), 0.0);
  for (std::size_t k = 0; k < tangents_.size(); ++k)
    for (std::size_t i = 0; i < result_.prices.size(); ++i)
      result_.prices[i] += weights[k] * tangents_[k].line.slope[i];
  weights_ = weights;
}

void Relaxation::refine(int tangents, int rounds) {
  if (!possible_) return;
  for (int n = 0; n < tangents && !solved_; ++n) {
    const double here = iteration_.seconds(point_);
    if (here < upper_s_) {
      upper_s_ = here;
      best_point_ = point_;
    }
    const bool fresh = add_tangent(point_);
    const double before = result_.seconds;
    combine(fresh ? kTowards : 1.0, rounds);
    const double close = kSolved * upper_s_;
    stalls_ = !fresh && result_.seconds - before < close ? stalls_ + 1 : 0;
    solved_ = upper_s_ - result_.seconds < close || stalls_ == kStallsBeforeSolved;
  }
  result_.sums = best_point_;
  result_.fixed_s = iteration_.seconds(LoadFields(load_field_count(), 0.0));
}

std::vector<TableGroup> group_tables(const LoadModel& model, const Topology& topology,
                                     const std::vector<FormSet>& allowed,
                                     const AllowedCodecs& codecs) {
  std::map<std::vector<double>, std::size_t> known;
  std::vector<TableGroup> groups;
  for (std::size_t t = 0; t < allowed.size(); ++t) {
    TableGroup one;
    one.allowed = allowed[t];
    std::vector<double> key = {static_cast<double>(allowed[t])};
    for (std::size_t f = 0; f < kTableForms; ++f) {
      if ((allowed[t] & (1U << f)) == 0) continue;
      const auto form = static_cast<TableForm>(f);
      LayoutLoads loads;  // one entry stands for all
      const ExchangeChoice choice{
          form == TableForm::hierarchical ? Exchange::hierarchical : Exchange::flat, true, nullptr};
      loads.rb.resize(1);
      loads.ub.resize(1);
      loads.domains.resize(1);
      model.add(loads, t, whole_table(model.facts().tables[t], form), choice, 1);
      one.sums[f] = to_fields(loads);
      key.insert(key.end(), one.sums[f].begin(), one.sums[f].end());
      one.codecs[f] =
          codec_options(model, topology, codecs, t,
                        whole_table(model.facts().tables[t], form).cluster, choice.exchange);
      for (const CodecOption& codec : one.codecs[f])
        key.insert(key.end(), codec.change.begin(), codec.change.end());
    }
    const auto [found, fresh] = known.emplace(std::move(key), groups.size());
    if (fresh) groups.push_back(std::move(one));
    groups[found->second].count += 1;
    groups[found->second].tables.push_back(static_cast<std::int32_t>(t));
  }
  return groups;
}

}  // namespace shardscope
