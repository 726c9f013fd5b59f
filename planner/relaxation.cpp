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

Relaxation::Relaxation(MeanIteration iteration, const std::vector<TableGroup>& groups,
                       FormSet present, std::vector<GroupCut> cuts)
    : iteration_(std::move(iteration)), groups_(groups), present_(present), cuts_(std::move(cuts)) {
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
    if (answers[g].more_wire > 0) add(cuts_[g].wire, groups_[g].count * answers[g].more_wire);
    if (answers[g].more_keys > 0) add(cuts_[g].keys, groups_[g].count * answers[g].more_keys);
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
  for (const GroupCut& cut : cuts_) {
    const bool needed = cut.cells > 1;
    tangent.wire_cost.push_back(needed ? dot(tangent.line.slope, cut.wire) : 0);
    tangent.keys_cost.push_back(needed ? dot(tangent.line.slope, cut.keys) : 0);
  }
  tangents_.push_back(std::move(tangent));
  weights_.push_back(weights_.empty() ? 1.0 : 1.0 / static_cast<double>(weights_.size()));
  project_on_simplex(weights_);
  return true;
}

/// The cheapest way to cut a table into as many cells as it needs under a mixture of tangents.
double Relaxation::cut_cost(const std::vector<double>& weights, std::size_t group,
                            Answer& answer) const {
  const double cells = cuts_[group].cells;
  double wire = 0, keys = 0;
  for (std::size_t k = 0; k < tangents_.size(); ++k) {
    wire += weights[k] * tangents_[k].wire_cost[group];
    keys += weights[k] * tangents_[k].keys_cost[group];
  }
  // Least of wire x a + keys x cells / a.
  const double owners = wire > 0 ? std::clamp(std::sqrt(keys * cells / wire), 1.0, cells) : cells;
  answer.more_wire = owners - 1;
  answer.more_keys = cells / owners - 1;
  return wire * answer.more_wire + keys * answer.more_keys;
}

/// Of a table of the group in that form under a mixture of tangents, with the codecs that lower it
/// and cut as it must be.
double Relaxation::cost_of(const std::vector<double>& weights, std::size_t group,
                           Answer& answer) const {
  const std::size_t count = tangents_.size(), form = form_index(answer.form);
  double cost = 0;
  for (std::size_t k = 0; k < count; ++k)
    if (weights[k] > 0) cost += weights[k] * tangents_[k].cost[group][form];
  if (answer.form == TableForm::flat && !cuts_.empty() && cuts_[group].cells > 1)
    cost += cut_cost(weights, group, answer);
  const std::vector<CodecOption>& options = groups_[group].codecs[form];
  if (options.empty()) return cost;
  std::array<double, kWireSlots> least{};
  answer.codec.fill(-1);
  for (std::size_t o = 0; o < options.size(); ++o) {
    double change = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (weights[k] > 0) change += weights[k] * tangents_[k].codec_cost[group][form][o];
    if (change >= least[options[o].slot]) continue;
    least[options[o].slot] = change;
    answer.codec[options[o].slot] = static_cast<std::int32_t>(o);
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
      Answer one{.form = static_cast<TableForm>(f)};
      const double cost = cost_of(weights, g, one);
      if (cost >= least) continue;
      least = cost;
      answer = one;
    }
    const std::size_t best = form_index(answer.form);
    for (std::size_t k = 0; k < count; ++k)
      value[k] += groups_[g].count * tangents_[k].cost[g][best];
    for (std::size_t k = 0; answer.more_wire + answer.more_keys > 0 && k < count; ++k)
      value[k] += groups_[g].count * (answer.more_wire * tangents_[k].wire_cost[g] +
                                      answer.more_keys * tangents_[k].keys_cost[g]);
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
