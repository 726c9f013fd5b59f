#pragma once
// Cases of the lower bound by the heaviest part: what one rank holds of one flat RB table, in
// seconds of lookup, reduction and update. Where no part is heavier than some limit, hot tables
// must be cut, which costs wires and ids (RB partial sums of every row cut travel, every column cut
// needs all ids). Where one is heavier, its rank takes longer than the mean. Every layout is in one
// of the cases, so the lowest of their bounds holds for all.
//
// How many owners: let rank r own a share k of a table's ids and w of its columns, and e <= k w of
// their product. All e sum to 1 and none is above 1 / cells, so by Cauchy and Schwarz
// sum(k) sum(w) >= (sum sqrt(k w))^2 >= (sum sqrt(e))^2 >= cells.

#include <cmath>
#include <optional>
#include <vector>

#include "planner/plan_context.hpp"

namespace shardscope {

/// Layouts whose heaviest part takes more than `above_s` and at most `up_to_s`.
struct PartRange {
  double above_s = 0;
  double up_to_s = HUGE_VAL;
};

class CutCases {
 public:
  /// Keeps references: the arguments must outlive it.
  CutCases(const PlanContext& context, const std::vector<TableGroup>& groups);

  /// How groups must be cut where no part is above `up_to_s`; empty: not at all.
  [[nodiscard]] std::vector<GroupCut> cuts(const PartRange& range) const;
  /// What the rank with a part above `above_s` does at least; none: there is no such rank.
  [[nodiscard]] std::optional<HeaviestPart> heaviest(const PartRange& range) const;
  /// Where to divide a range whose cheapest forms are these; none: not worth it.
  [[nodiscard]] std::optional<double> divide(const PartRange& range,
                                             const std::vector<TableForm>& forms) const;

 private:
  struct Group {
    double least_s = 0, most_s = 0;  ///< an uncut table's, least and most of the group
    HeaviestPart share;              ///< of every stage in a second of it, the least of the group
    LoadFields wire, keys;
  };
  void look_at(std::size_t group, std::size_t table);
  [[nodiscard]] bool may_be_flat(std::size_t group) const {
    return (groups_[group].allowed & form_bit(TableForm::flat)) != 0;
  }

  const PlanContext& context_;
  const std::vector<TableGroup>& groups_;
  std::vector<Group> of_;  ///< by group
};

}  // namespace shardscope
