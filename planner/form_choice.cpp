#include "planner/form_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/step_loads.hpp"
#include "planner/timeline.hpp"

namespace shardscope {

namespace {

/// Counts of replicated tables that are tried at most.
constexpr std::size_t kMostCounts = 64;

}  // namespace

FormChoice::FormChoice(const PlanContext& context, const std::vector<FormSet>& allowed,
                       const MixtureBound& mixture)
    : context_(context), present_(mixture.present) {
  constexpr FormSet kReplicated = form_bit(TableForm::replicated);
  sharded_.resize(allowed.size());
  LoadFields sums(load_field_count(), 0.0);
  std::vector<std::pair<double, std::size_t>> ranked;
  std::vector<LoadFields> change(allowed.size());  // of the sums when replicated
  for (const TableGroup& group : group_tables(context.loads, context.topology, allowed, {})) {
    const auto possible = static_cast<FormSet>(group.allowed & present_);
    std::size_t best = kTableForms;
    double least = HUGE_VAL;
    for (std::size_t f = 0; f < kTableForms; ++f) {
      if ((possible & ~kReplicated & (1U << f)) == 0) continue;
      const double cost = dot(mixture.prices, group.sums[f]);
      if (cost < least) {
        least = cost;
        best = f;
      }
    }
    const bool may_replicate = (possible & kReplicated) != 0;
    const std::size_t form = best < kTableForms ? best : 0;
    const LoadFields& base = group.sums[form];
    for (const std::int32_t table : group.tables) {
      const auto t = static_cast<std::size_t>(table);
      sharded_[t] = best < kTableForms ? static_cast<FormSet>(1U << form) : possible;
      for (std::size_t i = 0; i < base.size(); ++i) sums[i] += base[i];
      if (!may_replicate || best == kTableForms) continue;
      const LoadFields& copied = group.sums[0];
      ranked.emplace_back(dot(mixture.prices, copied) / least, t);
      change[t] = copied;
      for (std::size_t i = 0; i < base.size(); ++i) change[t][i] -= base[i];
    }
  }
  std::stable_sort(ranked.begin(), ranked.end());
  sums_.push_back(sums);
  for (const auto& [ratio, table] : ranked) {
    ranking_.push_back(table);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += change[table][i];
    sums_.push_back(sums);
  }
}

std::vector<FormSet> FormChoice::forms(std::size_t replicated) const {
  std::vector<FormSet> forms = sharded_;
  for (std::size_t n = 0; n < std::min(replicated, ranking_.size()); ++n)
    forms[ranking_[n]] = form_bit(TableForm::replicated);
  return forms;
}

double FormChoice::mean_seconds(std::size_t replicated) const {
  LayoutLoads loads = mean_loads(sums_[replicated], context_.topology);
  const StepModel steps(context_.facts, context_.topology, context_.executor, context_.dense);
  const Schedule schedule = context_.schedule_for(present_);
  std::vector<TimedStep> timed;
  in_seconds(steps.steps(schedule, loads), context_.topology.intra, context_.topology.inter, timed);
  return Timeline(schedule, 1, 1, context_.topology.gpu.overlap_cost.value).run(timed);
}

std::size_t FormChoice::best_of_mean() const {
  const std::size_t step = std::max<std::size_t>(1, ranking_.size() / kMostCounts);
  std::size_t best = 0;
  double least = HUGE_VAL;
  for (std::size_t n = 0; n <= ranking_.size(); n += step) {
    const double seconds = mean_seconds(n);
    if (seconds >= least) continue;
    least = seconds;
    best = n;
  }
  return best;
}

}  // namespace shardscope
