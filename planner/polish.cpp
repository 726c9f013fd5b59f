#include "planner/polish.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "planner/memory_model.hpp"
#include "planner/placement_board.hpp"
#include "planner/table_options.hpp"

namespace shardscope {

namespace {

constexpr std::size_t kTablesARound = 6;   ///< heaviest of the critical rank
constexpr std::size_t kTargetsAShard = 3;  ///< emptiest ranks tried
constexpr double kSmallestGain = 1e-6;

std::size_t position(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

class Polisher {
 public:
  Polisher(const PlanContext& context, const PlanConstraints& constraints,
           const std::vector<FormSet>& allowed, double capacity, WhatIf& what_if,
           const PolishLimits& limits)
      : context_(context),
        allowed_(allowed),
        capacity_(capacity),
        what_if_(what_if),
        limits_(limits),
        scale_(context),
        fixed_(context.facts.tables.size(), false),
        usable_(position(context.topology.ranks()), true),
        memory_(context.memory.of(what_if.layout())) {
    for (const auto& [table, placement] : constraints.pinned) fixed_[position(table)] = true;
    for (const auto& [table, ranks] : constraints.only_ranks) fixed_[position(table)] = true;
    for (const auto& [table, cluster] : constraints.clusters) fixed_[position(table)] = true;
    for (const auto& group : constraints.together)
      for (const std::int32_t table : group) fixed_[position(table)] = true;
    for (const std::int32_t rank : constraints.forbidden_ranks) usable_[position(rank)] = false;
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
    find_work();
    std::optional<Edit> best;
    for (const std::size_t table : heaviest_on(critical)) try_edits(table, critical, best);
    for (std::size_t table = 0; !best && table < fixed_.size(); ++table) {
      if (fixed_[table]) continue;
      const std::vector<std::int32_t>& owners = what_if_.layout().tables[table].owners;
      try_edits(table, owners.empty() ? critical : busiest_of(owners), best);
    }
    if (!best) return false;
    account(best->table, what_if_.layout().tables[best->table], -1);
    account(best->table, best->placement, 1);
    what_if_.set_table(best->table, std::move(best->placement));
    return true;
  }

  void try_edits(std::size_t table, std::int32_t rank, std::optional<Edit>& best) {
    for (TablePlacement& placement : edits_of(table, rank)) {
      if (used_ >= limits_.evaluations || (limits_.stop && limits_.stop())) return;
      if (!within_memory(table, placement)) continue;
      ++used_;
      const double seconds = what_if_.try_table(table, placement);
      const double least = best ? best->seconds : what_if_.seconds() * (1 - kSmallestGain);
      if (seconds < least) best = Edit{table, std::move(placement), seconds};
    }
  }

  [[nodiscard]] std::int32_t busiest_of(const std::vector<std::int32_t>& ranks) const {
    return *std::max_element(ranks.begin(), ranks.end(), [&](std::int32_t a, std::int32_t b) {
      return work_[position(a)] < work_[position(b)];
    });
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

  /// Weighted seconds of every table on every rank that holds it, and of every rank.
  void find_work() {
    const LayoutLoads loads = context_.loads.of(what_if_.layout());
    work_.assign(loads.rb.size(), 0.0);
    for (std::size_t r = 0; r < work_.size(); ++r) {
      for (const OwnerLoad* owner : {&loads.rb[r], &loads.ub[r]}) {
        const RankSeconds seconds = scale_.rank_seconds(*owner);
        work_[r] += std::accumulate(seconds.begin(), seconds.end(), 0.0);
      }
    }
  }

  [[nodiscard]] std::vector<std::size_t> heaviest_on(std::int32_t rank) const {
    std::vector<std::pair<double, std::size_t>> found;
    const Layout& layout = what_if_.layout();
    for (std::size_t t = 0; t < layout.tables.size(); ++t) {
      const TablePlacement& placement = layout.tables[t];
      if (fixed_[t]) continue;
      const auto cells =
          static_cast<double>(std::count(placement.owners.begin(), placement.owners.end(), rank));
      if (cells == 0) continue;
      const TableFacts& facts = context_.facts.tables[t];
      const double share = cells / static_cast<double>(placement.owners.size());
      found.emplace_back(-(facts.batch_keys + facts.batch_unique * 4) * facts.dim * share, t);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::size_t> tables;
    for (std::size_t i = 0; i < found.size() && i < kTablesARound; ++i)
      tables.push_back(found[i].second);
    return tables;
  }

  [[nodiscard]] std::vector<std::int32_t> emptiest(std::size_t count, std::int32_t domain,
                                                   const std::vector<std::int32_t>& taken) const {
    std::vector<std::pair<double, std::int32_t>> ranks;
    const std::int32_t g = context_.topology.fast_domain;
    for (std::int32_t r = 0; r < context_.topology.ranks(); ++r) {
      if (domain >= 0 && r / g != domain) continue;
      if (!usable_[position(r)] || std::find(taken.begin(), taken.end(), r) != taken.end())
        continue;
      ranks.emplace_back(work_[position(r)], r);
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<std::int32_t> result;
    for (std::size_t i = 0; i < ranks.size() && i < count; ++i) result.push_back(ranks[i].second);
    return result;
  }

  [[nodiscard]] std::vector<TablePlacement> edits_of(std::size_t table, std::int32_t rank) const {
    std::vector<TablePlacement> edits;
    const TablePlacement& now = what_if_.layout().tables[table];
    const std::int32_t domain = context_.topology.domain_of(rank);
    const bool keeps_domain = now.cluster == ClusterType::RB &&
                              exchange_of(now) == Exchange::hierarchical && now.owners.size() > 1;
    // Its shard elsewhere.
    if (!now.owners.empty() &&
        std::find(now.owners.begin(), now.owners.end(), rank) != now.owners.end() &&
        (context_.options.executor != Executor::torchrec || now.row_shards == 1)) {
      for (const std::int32_t to :
           emptiest(kTargetsAShard, keeps_domain ? domain : -1, now.owners)) {
        TablePlacement moved = now;
        *std::find(moved.owners.begin(), moved.owners.end(), rank) = to;
        edits.push_back(std::move(moved));
      }
    }
    // Cut more, less or exchanged otherwise, on the emptiest ranks of the emptiest domain.
    for (const TableOption& option :
         table_options(context_, scale_, table, allowed_[table], LoadFields())) {
      if (option.blocks > 1 || option.everywhere) continue;
      std::vector<std::int32_t> owners;
      if (option.form != TableForm::replicated) {
        owners = emptiest(position(option.rows * option.columns),
                          option.blocks == 1 ? emptiest_domain() : -1, {});
        if (owners.size() < position(option.rows * option.columns)) continue;
      }
      edits.push_back(placement_of(context_.workload.tables[table], option, owners));
    }
    if (context_.options.executor == Executor::hugectr)
      for (TablePlacement& edit : edits) edit = in_hugectr_order(std::move(edit));
    return edits;
  }

  [[nodiscard]] std::int32_t emptiest_domain() const {
    std::vector<double> domains(position(context_.topology.domains()), 0.0);
    for (std::size_t r = 0; r < work_.size(); ++r)
      domains[position(context_.topology.domain_of(static_cast<std::int32_t>(r)))] += work_[r];
    return static_cast<std::int32_t>(std::min_element(domains.begin(), domains.end()) -
                                     domains.begin());
  }

  const PlanContext& context_;
  const std::vector<FormSet>& allowed_;
  double capacity_;
  WhatIf& what_if_;
  const PolishLimits& limits_;
  BoardScale scale_;
  std::vector<bool> fixed_, usable_;
  MemoryLoads memory_;
  std::vector<double> work_;
  int used_ = 0;
};

}  // namespace

TablePlacement in_hugectr_order(TablePlacement placement) {
  std::vector<std::int32_t> sorted = placement.owners;
  std::sort(sorted.begin(), sorted.end());
  for (std::int32_t k = 0; k < placement.column_shards(); ++k)
    for (std::int32_t j = 0; j < placement.row_shards; ++j)
      if (!sorted.empty())
        placement.owners[position(j * placement.column_shards() + k)] =
            sorted[position(k * placement.row_shards + j)];
  return placement;
}

void polish(const PlanContext& context, const PlanConstraints& constraints,
            const std::vector<FormSet>& allowed, double capacity, WhatIf& what_if,
            const PolishLimits& limits) {
  Polisher(context, constraints, allowed, capacity, what_if, limits).run();
}

}  // namespace shardscope
