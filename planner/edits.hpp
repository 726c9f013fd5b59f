#pragma once
// Single edits of a layout that are worth a try: a shard on an emptier rank, a table cut more, cut
// less, exchanged otherwise or replicated.

#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "planner/placement_board.hpp"
#include "planner/plan_context.hpp"
#include "planner/table_options.hpp"

namespace shardscope {

/// Knows how much every rank of a layout has to do, and proposes.
class EditMaker {
 public:
  /// `allowed`: forms by table. `usable`: by rank. Keeps references to the first two.
  EditMaker(const PlanContext& context, const std::vector<FormSet>& allowed,
            std::vector<bool> usable);

  /// Looks at a layout anew; it must outlive the next calls.
  void look(const Layout& layout);

  /// Seconds of kernels and wires on every rank.
  [[nodiscard]] const std::vector<double>& work() const { return work_; }
  [[nodiscard]] std::int32_t busiest_of(const std::vector<std::int32_t>& ranks) const;
  /// Up to `count` tables with the most work on a rank, heaviest first.
  [[nodiscard]] std::vector<std::size_t> heaviest_on(std::int32_t rank, std::size_t count) const;
  /// Placements other than today's, legal for the executor. `rank` holds a shard that should go.
  [[nodiscard]] std::vector<TablePlacement> edits_of(std::size_t table, std::int32_t rank) const;

 private:
  [[nodiscard]] std::vector<double> work_of(const LayoutLoads& loads) const;
  /// What ranks have to do besides a table.
  [[nodiscard]] std::vector<double> work_without(std::size_t table) const;
  [[nodiscard]] std::vector<std::int32_t> emptiest(const std::vector<double>& work,
                                                   std::size_t count, std::int32_t domain,
                                                   const std::vector<std::int32_t>& taken) const;
  [[nodiscard]] std::int32_t emptiest_domain(const std::vector<double>& work) const;
  [[nodiscard]] bool may_stand_beside_others(std::size_t table,
                                             const TablePlacement& placement) const;
  void add_moves(std::size_t table, std::int32_t rank, std::vector<TablePlacement>& edits) const;
  static void keep_codecs(const TablePlacement& now, TablePlacement& cut);
  [[nodiscard]] const std::vector<TableOption>& options_of(std::size_t table) const;
  void add_cuts(std::size_t table, std::vector<TablePlacement>& edits) const;

  const PlanContext& context_;
  const std::vector<FormSet>& allowed_;
  std::vector<bool> usable_;
  BoardScale scale_;
  mutable std::vector<std::vector<TableOption>> options_;  ///< by table; empty: not yet found
  const Layout* layout_ = nullptr;
  std::vector<double> work_;
};

/// Owners in the order that HugeCTR gives them: ascending, column by column.
[[nodiscard]] TablePlacement in_hugectr_order(TablePlacement placement);

}  // namespace shardscope
