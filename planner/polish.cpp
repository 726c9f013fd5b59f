#include "planner/polish.hpp"

#include <algorithm>
#include <optional>

#include "planner/edits.hpp"
#include "planner/memory_model.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kTablesARound = 6;  ///< heaviest of the critical rank
constexpr double kSmallestGain = 1e-6;

std::size_t position(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

std::vector<bool> usable_ranks(const PlanContext& context, const PlanConstraints& constraints) {
  std::vector<bool> usable(position(context.topology.ranks()), true);
  for (const std::int32_t rank : constraints.forbidden_ranks) usable[position(rank)] = false;
  return usable;
}

class Polisher {
 public:
  Polisher(const PlanContext& context, const PlanConstraints& constraints,
           const std::vector<FormSet>& allowed, double capacity, WhatIf& what_if,
           const PolishLimits& limits)
      : context_(context),
        capacity_(capacity),
        what_if_(what_if),
        limits_(limits),
        fixed_(context.facts.tables.size(), false),
        edits_(context, allowed, usable_ranks(context, constraints)),
        memory_(context.memory.of(what_if.layout())) {
    for (const auto& [table, placement] : constraints.pinned) fixed_[position(table)] = true;
    for (const auto& [table, ranks] : constraints.only_ranks) fixed_[position(table)] = true;
    for (const auto& [table, cluster] : constraints.clusters) fixed_[position(table)] = true;
    for (const auto& group : constraints.together)
      for (const std::int32_t table : group) fixed_[position(table)] = true;
  }

  void run() {
    while (used_ < limits_.evaluations && !(limits_.stop && limits_.stop()))
      if (!improve_once()) break;
  }

 private:
  struct Edit {
    std::size_t table = 0;
    TablePlacement placement;
    double seconds = 0;
  };

  /// Tries edits of the heaviest tables on the rank that everybody waits for; where none helps, of
  /// all tables. Keeps the best.
  bool improve_once() {
    const std::int32_t critical = what_if_.stage_times().critical_rank;
    edits_.look(what_if_.layout());
    std::optional<Edit> best;
    std::size_t tried = 0;
    for (const std::size_t table : edits_.heaviest_on(critical, fixed_.size())) {
      if (fixed_[table]) continue;
      try_edits(table, critical, best);
      if (++tried == kTablesARound) break;
    }
    for (std::size_t table = 0; !best && table < fixed_.size(); ++table) {
      if (fixed_[table]) continue;
      const std::vector<std::int32_t>& owners = what_if_.layout().tables[table].owners;
      try_edits(table, owners.empty() ? critical : edits_.busiest_of(owners), best);
    }
    if (!best) return false;
    account(best->table, what_if_.layout().tables[best->table], -1);
    account(best->table, best->placement, 1);
    what_if_.set_table(best->table, std::move(best->placement));
    return true;
  }

  void try_edits(std::size_t table, std::int32_t rank, std::optional<Edit>& best) {
    for (TablePlacement& placement : edits_.edits_of(table, rank)) {
      if (used_ >= limits_.evaluations || (limits_.stop && limits_.stop())) return;
      if (!within_memory(table, placement)) continue;
      ++used_;
      const double seconds = what_if_.try_table(table, placement);
      const double least = best ? best->seconds : what_if_.seconds() * (1 - kSmallestGain);
      if (seconds < least) best = Edit{table, std::move(placement), seconds};
    }
  }

  void account(std::size_t table, const TablePlacement& placement, double sign) {
    context_.memory.add(memory_, table, placement, exchange_of(placement),
                        what_if_.layout().options(ClusterType::UB).dedup, sign);
  }
  [[nodiscard]] Exchange exchange_of(const TablePlacement& placement) const {
    return placement.exchange.value_or(what_if_.layout().options(placement.cluster).exchange);
  }
  [[nodiscard]] bool within_memory(std::size_t table, const TablePlacement& placement) {
    account(table, what_if_.layout().tables[table], -1);
    account(table, placement, 1);
    const bool fits = context_.memory.most(memory_) <= capacity_;
    account(table, placement, -1);
    account(table, what_if_.layout().tables[table], 1);
    return fits;
  }

  const PlanContext& context_;
  double capacity_;
  WhatIf& what_if_;
  const PolishLimits& limits_;
  std::vector<bool> fixed_;
  EditMaker edits_;
  MemoryLoads memory_;
  int used_ = 0;
};

}  // namespace

void polish(const PlanContext& context, const PlanConstraints& constraints,
            const std::vector<FormSet>& allowed, double capacity, WhatIf& what_if,
            const PolishLimits& limits) {
  Polisher(context, constraints, allowed, capacity, what_if, limits).run();
}

}  // namespace shardscope
