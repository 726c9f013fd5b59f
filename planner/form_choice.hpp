#pragma once
// Which tables to replicate, decided for all at once. One table more or fewer on the owners hardly
// moves a maximum over ranks, so a search that looks at one table at a time replicates too many or
// too few; the mean rank's iteration sees what all of them together do.

#include <cstddef>
#include <vector>

#include "planner/bound.hpp"
#include "planner/plan_context.hpp"

namespace shardscope {

class FormChoice {
 public:
  /// Ranks tables by what replication costs over what the cheapest other form costs, at the
  /// mixture's prices. `allowed`: forms by table, constraints included. Keeps references.
  FormChoice(const PlanContext& context, const std::vector<FormSet>& allowed,
             const MixtureBound& mixture);

  /// One form a table: the first `replicated` of the ranking are replicated, the others are not.
  /// Tables without a choice keep what they may take.
  [[nodiscard]] std::vector<FormSet> forms(std::size_t replicated) const;
  /// Tables that may be replicated or not.
  [[nodiscard]] std::size_t undecided() const { return ranking_.size(); }
  /// How many replicated the mean rank's iteration is shortest with.
  [[nodiscard]] std::size_t best_of_mean() const;

 private:
  [[nodiscard]] double mean_seconds(std::size_t replicated) const;

  const PlanContext& context_;
  FormSet present_;
  std::vector<FormSet> sharded_;      ///< by table: the form beside replication
  std::vector<std::size_t> ranking_;  ///< tables, those that gain most by replication first
  /// Sums of all tables with the first n of the ranking replicated, by n.
  std::vector<LoadFields> sums_;
};

}  // namespace shardscope
