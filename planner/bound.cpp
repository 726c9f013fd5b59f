#include "planner/bound.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <optional>

#include "planner/cut_cases.hpp"

namespace shardscope {

namespace {

constexpr int kFirstTangents = 3;
constexpr int kMoreTangents = 3;
constexpr int kHastyRounds = 4;  ///< of the one tangent that is made when it is late
constexpr int kMostDivisions = 40;

/// Layouts with exactly these forms, in one case of shared wires and of the heaviest part.
struct Mixture {
  FormSet present = 0;
  WireCase wire_case;
  PartRange parts;
  Relaxation relaxation;
  double known_s = 0;  ///< bound of the range that this one is a part of

  [[nodiscard]] double seconds() const { return std::max(known_s, relaxation.result().seconds); }
};

/// Every mixture and case may hold the best layout: the lowest of their bounds counts, and only
/// raising that one helps.
class BoundSearch {
 public:
  BoundSearch(const PlanContext& context, const std::vector<FormSet>& allowed,
              const std::function<bool()>& late)
      : context_(context),
        late_(late),
        generous_(context.loads.without_cut_losses()),
        groups_(
            group_tables(generous_, context.topology, allowed, context.options.allowed_codecs)) {}

  void start() {
    for (unsigned present = 1; present < (1U << kTableForms); ++present) {
      const auto forms = static_cast<FormSet>(present);
      if (!may_mix(context_.options.executor, forms)) continue;
      for (const WireCase wire_case : kWireCases) {
        MeanIteration iteration = iteration_of(forms, wire_case, std::nullopt);
        const bool has_cases = iteration.has_cases();
        Relaxation relaxation(std::move(iteration), groups_, forms);
        if (!relaxation.possible()) break;
        is_late() ? relaxation.refine(1, kHastyRounds) : relaxation.refine(kFirstTangents);
        mixtures_.push_back({forms, wire_case, {}, std::move(relaxation)});
        if (!has_cases) break;
      }
    }
  }

  void refine(int effort) {
    int divisions = 0;
    while (effort > 0 && !is_late() && !mixtures_.empty()) {
      const auto lowest = std::min_element(
          mixtures_.begin(), mixtures_.end(),
          [](const Mixture& a, const Mixture& b) { return a.seconds() < b.seconds(); });
      if (!lowest->relaxation.solved()) {
        lowest->relaxation.refine(kMoreTangents);
        effort -= kMoreTangents;
      } else if (divisions++ == kMostDivisions || !divide(lowest)) {
        return;
      }
    }
  }

  [[nodiscard]] const std::vector<TableGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::list<Mixture>& mixtures() const { return mixtures_; }

 private:
  [[nodiscard]] bool is_late() const { return late_ && late_(); }

  [[nodiscard]] MeanIteration iteration_of(FormSet forms, WireCase wire_case,
                                           std::optional<HeaviestPart> heaviest) const {
    return {context_.facts,
            context_.topology,
            context_.executor,
            context_.dense,
            context_.schedule_for(forms),
            forms,
            wire_case,
            heaviest};
  }

  /// Puts the cases of a lighter and of a heavier part in its place. False where that is not known
  /// to help: with codecs, whose gain grows with the cuts.
  bool divide(std::list<Mixture>::iterator mixture) {
    if ((mixture->present & form_bit(TableForm::flat)) == 0) return false;
    if (context_.options.allowed_codecs.any() || context_.topology.ranks() == 1) return false;
    if (!cases_) cases_ = std::make_unique<CutCases>(context_, groups_);
    const std::optional<double> at =
        cases_->divide(mixture->parts, mixture->relaxation.result().forms);
    if (!at) return false;
    add(*mixture, {mixture->parts.above_s, *at});
    add(*mixture, {*at, mixture->parts.up_to_s});
    mixtures_.erase(mixture);
    return true;
  }

  void add(const Mixture& whole, PartRange parts) {
    std::optional<HeaviestPart> heaviest;
    if (parts.above_s > 0) {
      heaviest = cases_->heaviest(parts);
      if (!heaviest) return;
    }
    Relaxation relaxation(iteration_of(whole.present, whole.wire_case, heaviest), groups_,
                          whole.present, cases_->cuts(parts));
    relaxation.refine(kFirstTangents);
    mixtures_.push_back(
        {whole.present, whole.wire_case, parts, std::move(relaxation), whole.seconds()});
  }

  const PlanContext& context_;
  const std::function<bool()>& late_;
  LoadModel generous_;
  std::vector<TableGroup> groups_;
  std::unique_ptr<CutCases> cases_;
  std::list<Mixture> mixtures_;
};

}  // namespace

LowerBound lower_bound(const PlanContext& context, const std::vector<FormSet>& allowed, int effort,
                       const std::function<bool()>& late) {
  BoundSearch search(context, allowed, late);
  search.start();
  search.refine(effort);
  LowerBound bound;
  if (search.mixtures().empty()) return bound;
  const std::vector<TableGroup>& groups = search.groups();
  for (const Mixture& mixture : search.mixtures()) {
    const RelaxationResult& result = mixture.relaxation.result();
    MixtureBound& one = bound.mixtures.emplace_back();
    one.seconds = std::max(mixture.seconds(), context.reader_s);
    one.present = mixture.present;
    one.prices = result.prices;
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
