#pragma once
// Greedy construction and local search on the placement board: tables are taken out and put back
// in the cheapest way, dearest first.

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "planner/bound.hpp"
#include "planner/placement_board.hpp"
#include "planner/plan_constraints.hpp"
#include "planner/table_options.hpp"

namespace shardscope {

class BoardSearch {
 public:
  /// How costs are weighed.
  struct Weighing {
    double floor = 1;          ///< a stage counts at least this share of its seconds
    double mean_share = 0.05;  ///< of the mean rank's work beside the maxima
    /// Tables with much work are cut over all ranks of a domain, so that these stay alike.
    bool whole_domains = false;
  };
  /// Plans with the forms of `mixture`. Keeps references: the first two and the mixture must
  /// outlive it.
  BoardSearch(const PlanContext& context, const PlanConstraints& constraints,
              const std::vector<FormSet>& allowed, const MixtureBound& mixture, Weighing weighing);

  /// False where some table fits nowhere, or nobody wants to go on.
  [[nodiscard]] bool construct();
  /// One pass over all tables; true if the cost fell by more than a 1e-4 part.
  bool improve();
  /// Takes a share of the tables out, chosen at random, and puts them back.
  void shake(std::mt19937_64& random, double share);

  /// What construct() and the rest made: option and owners of every table.
  struct Choice {
    std::int32_t option = -1;
    std::vector<std::int32_t> owners;
  };
  [[nodiscard]] const std::vector<Choice>& choices() const { return choices_; }
  void restore(const std::vector<Choice>& choices);
  [[nodiscard]] double cost() const { return board_.cost(); }
  [[nodiscard]] Layout layout() const;
  /// Capacity of a rank, lowered where check() counted more than the model.
  void limit_memory(double capacity) { board_.limit_memory(capacity); }
  /// Asked table by table; false ends construct() and improve() early.
  void ask_whether_to_go_on(std::function<bool()> go_on) { go_on_ = std::move(go_on); }

 private:
  struct Candidate {
    bool found = false;
    double cost = 0;
    double spread = 0;  ///< work of the ranks chosen: breaks ties
    Choice choice;
  };
  /// Ranks a table may use by work; the first `sorted` are in order.
  struct IdleRanks {
    std::vector<std::pair<double, std::int32_t>> ranks;
    std::size_t sorted = 0;
  };
  [[nodiscard]] const std::vector<TableOption>& options(std::size_t table) const {
    return options_[option_set_[table]];
  }
  void make_options(const std::vector<FormSet>& allowed, const LoadFields& prices);
  [[nodiscard]] bool is_grouped(std::size_t table) const;
  [[nodiscard]] std::int32_t useful_cells(const std::vector<TableOption>& few, double table_work,
                                          double rank_work) const;
  void drop_needless_cuts(std::vector<TableOption>& options, double rank_work) const;
  void keep_whole_domains(std::vector<TableOption>& options, double rank_work) const;
  void keep_whole(std::size_t leader, const std::vector<FormSet>& allowed,
                  const LoadFields& prices);
  void place_pinned();
  void set_floor();
  void put(std::size_t table, const Choice& choice, double sign);
  [[nodiscard]] Candidate best_of(std::size_t table) const;
  [[nodiscard]] IdleRanks idle_ranks(std::size_t table) const;
  [[nodiscard]] std::vector<std::int32_t> idle_domains(std::size_t table) const;
  [[nodiscard]] Candidate try_option(std::size_t table, std::int32_t option, IdleRanks& idle,
                                     const std::vector<std::int32_t>& domains) const;
  [[nodiscard]] Candidate try_anywhere(const TableOption& option, IdleRanks& idle) const;
  [[nodiscard]] const std::vector<std::int32_t>& ranks_of(std::int32_t domain) const;
  [[nodiscard]] bool block_owners(std::size_t table, const TableOption& option, std::int32_t domain,
                                  std::vector<std::int32_t>& owners) const;
  [[nodiscard]] Candidate try_blocks(std::size_t table, const TableOption& option,
                                     const std::vector<std::int32_t>& domains) const;
  [[nodiscard]] Candidate try_everywhere(std::size_t table, const TableOption& option) const;
  [[nodiscard]] bool may_hold(std::size_t table, std::int32_t rank) const {
    return !board_.is_forbidden(rank) &&
           (only_[table].empty() || only_[table][static_cast<std::size_t>(rank)]);
  }
  void priced(const TableOption& option, Candidate& candidate) const;

  const PlanContext& context_;
  const PlanConstraints& constraints_;
  MixtureBound mixture_;
  bool whole_domains_;
  BoardScale scale_;
  PlacementBoard board_;
  std::vector<std::vector<TableOption>> options_;  ///< sets shared by equal tables
  std::vector<std::size_t> option_set_;            ///< by table
  std::vector<std::vector<bool>> only_;            ///< ranks a table may use; empty: all
  std::vector<const TablePlacement*> pinned_;      ///< by table; null: free
  std::vector<std::int32_t> leader_;               ///< of a together group; itself otherwise
  std::vector<std::int32_t> all_domains_;
  /// Ranks of a domain by falling room for work; empty: to be found anew.
  mutable std::vector<std::vector<std::int32_t>> domain_order_;
  std::vector<std::size_t> order_;  ///< dearest first, leaders and free tables
  std::vector<Choice> choices_;
  std::function<bool()> go_on_;
};

}  // namespace shardscope
