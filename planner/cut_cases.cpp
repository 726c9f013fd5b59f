#include "planner/cut_cases.hpp"

#include <algorithm>

namespace shardscope {

namespace {

/// Parts below this share of a rank's mean work cost so many cuts that no bound is there.
constexpr double kSmallPart = 0.2;
/// Ranges narrower than this ratio teach nothing.
constexpr double kNarrow = 1.03;
constexpr double kStepDown = 1.5;
constexpr double kStepUp = 1.5;

LoadFields fields_of(const OwnerLoad& owner) {
  LayoutLoads loads;
  loads.rb = {owner};
  loads.ub.resize(1);
  loads.domains.resize(1);
  return to_fields(loads);
}

void lower(LoadFields& to, const LoadFields& from) {
  if (to.empty()) to = from;
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::min(to[i], from[i]);
}

}  // namespace

CutCases::CutCases(const PlanContext& context, const std::vector<TableGroup>& groups)
    : context_(context), groups_(groups), of_(groups.size()) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!may_be_flat(g)) continue;
    for (const std::int32_t table : groups[g].tables) look_at(g, static_cast<std::size_t>(table));
  }
}

void CutCases::look_at(std::size_t group, std::size_t table) {
  const TableFacts& facts = context_.facts.tables[table];
  const Gpu& gpu = context_.topology.gpu;
  const double memory = gpu.memory_bytes_per_s.value;
  // HugeCTR cuts rows by modulo alone: parts are alike unless ids come in order of popularity.
  const bool even = context_.options.executor == Executor::hugectr && !facts.by_popularity;
  const OwnerLoad part = context_.loads.least_rb_part(facts, even);
  const double seconds = part.gather_bytes / (memory * gpu.gather_efficiency.value) +
                         part.reduce_bytes / (memory * gpu.reduce_efficiency.value) +
                         part.update_bytes / gpu.update_bytes_per_s();
  Group& of = of_[group];
  const bool first = of.wire.empty();
  const auto least = [&](double& to, double value) { to = first ? value : std::min(to, value); };
  least(of.least_s, seconds);
  of.most_s = std::max(of.most_s, seconds);
  if (seconds > 0) {
    least(of.share.gather_bytes, part.gather_bytes / seconds);
    least(of.share.reduce_bytes, part.reduce_bytes / seconds);
    least(of.share.update_bytes, part.update_bytes / seconds);
  }
  // Else nothing is known of how many distinct rows a part's ids are.
  TableFacts known = facts;
  if (!even) known.batch_unique = 0;
  const LoadModel::CutGrowth growth = context_.loads.flat_cut_growth(known);
  lower(of.wire, fields_of(growth.wire));
  lower(of.keys, fields_of(growth.keys));
}

std::vector<GroupCut> CutCases::cuts(const PartRange& range) const {
  std::vector<GroupCut> cuts;
  if (range.up_to_s == HUGE_VAL) return cuts;
  for (const Group& of : of_)
    cuts.push_back({std::max(1.0, of.least_s / range.up_to_s), of.wire, of.keys});
  return cuts;
}

std::optional<HeaviestPart> CutCases::heaviest(const PartRange& range) const {
  std::optional<HeaviestPart> part;
  for (std::size_t g = 0; g < of_.size(); ++g) {
    if (!may_be_flat(g) || of_[g].most_s <= range.above_s) continue;
    const HeaviestPart one{range.above_s * of_[g].share.gather_bytes,
                           range.above_s * of_[g].share.reduce_bytes,
                           range.above_s * of_[g].share.update_bytes};
    if (!part) part = one;
    part->gather_bytes = std::min(part->gather_bytes, one.gather_bytes);
    part->reduce_bytes = std::min(part->reduce_bytes, one.reduce_bytes);
    part->update_bytes = std::min(part->update_bytes, one.update_bytes);
  }
  return part;
}

std::optional<double> CutCases::divide(const PartRange& range,
                                       const std::vector<TableForm>& forms) const {
  double sum = 0, top = 0, hottest = 0;
  for (std::size_t g = 0; g < of_.size(); ++g) {
    hottest = std::max(hottest, of_[g].most_s);
    if (forms[g] != TableForm::flat) continue;
    sum += groups_[g].count * of_[g].least_s;
    top = std::max(top, of_[g].least_s);
  }
  const double mean = sum / context_.topology.ranks();
  // Above the hottest table there is nothing.
  const double most = std::min(range.up_to_s, hottest);
  if (range.above_s <= 0) {
    const double at =
        range.up_to_s == HUGE_VAL ? std::min(mean, top / kNarrow) : std::min(most, top) / kStepDown;
    if (at < kSmallPart * mean || at <= 0) return std::nullopt;
    return at;
  }
  if (most <= kNarrow * range.above_s) return std::nullopt;
  return std::min(kStepUp * range.above_s, std::sqrt(range.above_s * most));
}

}  // namespace shardscope
