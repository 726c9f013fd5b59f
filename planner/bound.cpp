#include "planner/bound.hpp"

#include <algorithm>

namespace shardscope {

namespace {

constexpr int kFirstTangents = 3;
constexpr int kMoreTangents = 3;
constexpr int kHastyRounds = 4;  ///< of the one tangent that is made when it is late

struct Mixture {
  FormSet present = 0;
  Relaxation relaxation;
};

}  // namespace

LowerBound lower_bound(const PlanContext& context, const std::vector<FormSet>& allowed, int effort,
                       const std::function<bool()>& late) {
  const auto is_late = [&] { return late && late(); };
  const LoadModel generous = context.loads.without_cut_losses();
  const std::vector<TableGroup> groups =
      group_tables(generous, context.topology, allowed, context.options.allowed_codecs);
  std::vector<Mixture> mixtures;
  for (unsigned present = 1; present < (1U << kTableForms); ++present) {
    const auto forms = static_cast<FormSet>(present);
    if (!may_mix(context.options.executor, forms)) continue;
    for (const WireCase wire_case : kWireCases) {
      MeanIteration iteration(context.facts, context.topology, context.executor, context.dense,
                              context.schedule_for(forms), forms, wire_case);
      const bool has_cases = iteration.has_cases();
      Relaxation relaxation(std::move(iteration), groups, forms);
      if (!relaxation.possible()) break;
      is_late() ? relaxation.refine(1, kHastyRounds) : relaxation.refine(kFirstTangents);
      mixtures.push_back({forms, std::move(relaxation)});
      if (!has_cases) break;
    }
  }
  LowerBound bound;
  if (mixtures.empty()) return bound;
  // Every mixture may be the best one: the lowest of their bounds counts, and only raising that
  // one helps.
  const auto lowest = [&] {
    return std::min_element(mixtures.begin(), mixtures.end(),
                            [](const Mixture& a, const Mixture& b) {
                              return a.relaxation.result().seconds < b.relaxation.result().seconds;
                            });
  };
  for (int spent = 0; spent < effort && !is_late() && !lowest()->relaxation.solved();
       spent += kMoreTangents)
    lowest()->relaxation.refine(kMoreTangents);
  for (const Mixture& mixture : mixtures) {
    const RelaxationResult& result = mixture.relaxation.result();
    MixtureBound& one = bound.mixtures.emplace_back();
    one.seconds = std::max(result.seconds, context.reader_s);
    one.present = mixture.present;
    one.prices = result.prices;
    one.fixed_s = result.fixed_s;
    one.forms.resize(allowed.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::int32_t table : groups[g].tables)
        one.forms[static_cast<std::size_t>(table)] = result.forms[g];
  }
  std::stable_sort(
      bound.mixtures.begin(), bound.mixtures.end(),
      [](const MixtureBound& a, const MixtureBound& b) { return a.seconds < b.seconds; });
  // Of a mixture's cases the lowest one is its bound.
  std::vector<MixtureBound> lower;
  for (MixtureBound& one : bound.mixtures) {
    const bool known = std::any_of(lower.begin(), lower.end(), [&](const MixtureBound& other) {
      return other.present == one.present;
    });
    if (!known) lower.push_back(std::move(one));
  }
  bound.mixtures = std::move(lower);
  bound.seconds = bound.mixtures.front().seconds;
  return bound;
}

LowerBound lower_bound(const PlanContext& context, int effort, const std::function<bool()>& late) {
  return lower_bound(context, legal_forms(context), effort, late);
}

}  // namespace shardscope
