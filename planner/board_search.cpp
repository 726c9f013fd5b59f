#include "planner/board_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

namespace shardscope {

namespace {

constexpr double kWorthwhile = 1e-4;

/// A cell with less than this share of a rank's mean work and memory is not worth cutting further.
constexpr double kSmallCell = 0.1;
constexpr double kSmallMemory = 0.05;
constexpr double kMuchWork = 0.5;      ///< of a rank's mean
constexpr std::int32_t kFewCells = 4;  ///< of the options that a table is first judged by

std::size_t as_index(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

/// Everything about a table that its options depend on.
std::vector<double> signature(const TableFacts& table, const Table& what, FormSet allowed) {
  return {static_cast<double>(allowed),
          table.rows,
          table.dim,
          table.weight_bytes,
          table.state_element_bytes,
          table.state_row_bytes,
          table.row_wise_state ? 1.0 : 0.0,
          table.keys,
          table.weighted_keys,
          table.bags,
          table.pooled,
          table.unpooled,
          table.by_popularity ? 1.0 : 0.0,
          table.batch_unique,
          table.rank_unique,
          table.top_mass(1),
          table.top_mass(1000),
          static_cast<double>(what.dtype)};
}

}  // namespace

BoardSearch::BoardSearch(const PlanContext& context, const PlanConstraints& constraints,
                         const std::vector<FormSet>& allowed, const MixtureBound& mixture,
                         Weighing weighing)
    : context_(context),
      constraints_(constraints),
      mixture_(mixture),
      whole_domains_(weighing.whole_domains),
      scale_(context),
      board_(context, scale_.weights(mixture.prices, weighing.floor), weighing.mean_share) {
  const std::size_t tables = context.facts.tables.size();
  const auto ranks = static_cast<std::size_t>(context.topology.ranks());
  all_domains_.resize(as_index(context.topology.domains()));
  std::iota(all_domains_.begin(), all_domains_.end(), 0);
  domain_order_.resize(all_domains_.size());
  pinned_.assign(tables, nullptr);
  only_.resize(tables);
  leader_.resize(tables);
  std::iota(leader_.begin(), leader_.end(), 0);
  for (const auto& [table, placement] : constraints.pinned) pinned_[as_index(table)] = &placement;
  for (const auto& [table, list] : constraints.only_ranks) {
    only_[as_index(table)].assign(ranks, false);
    for (const std::int32_t rank : list) only_[as_index(table)][as_index(rank)] = true;
  }
  for (const std::vector<std::int32_t>& group : constraints.together)
    for (const std::int32_t table : group) leader_[as_index(table)] = group.front();
  for (const std::int32_t rank : constraints.forbidden_ranks) board_.forbid(rank);
  std::vector<FormSet> forms = constrained_forms(constraints, allowed);
  for (FormSet& set : forms) set &= mixture.present;
  make_options(forms, mixture.prices);
  place_pinned();
  set_floor();
  choices_.resize(tables);
}

void BoardSearch::make_options(const std::vector<FormSet>& allowed, const LoadFields& prices) {
  std::map<std::vector<double>, std::size_t> known;
  std::vector<std::size_t> first_of_set;
  option_set_.resize(allowed.size());
  std::vector<double> work(allowed.size(), 0.0);
  for (std::size_t t = 0; t < allowed.size(); ++t) {
    std::vector<double> key =
        signature(context_.facts.tables[t], context_.workload.tables[t], allowed[t]);
    if (pinned_[t] != nullptr || is_grouped(t)) key.push_back(static_cast<double>(t));
    const auto [found, fresh] = known.emplace(std::move(key), options_.size());
    option_set_[t] = found->second;
    if (fresh) {
      first_of_set.push_back(t);
      options_.emplace_back();
      if (pinned_[t] == nullptr)
        options_.back() = table_options(context_, scale_, t, allowed[t], prices, kFewCells);
    }
    for (const TableOption& option : options(t)) {
      for (const BoardShard& cell : option.cells) work[t] += board_.work_of(cell.seconds);
      if (work[t] > 0) break;  // the uncut one
    }
  }
  const double rank_work =
      std::accumulate(work.begin(), work.end(), 0.0) / context_.topology.ranks();
  for (std::size_t set = 0; set < options_.size(); ++set) {
    const std::size_t t = first_of_set[set];
    if (pinned_[t] != nullptr) continue;
    options_[set] = table_options(context_, scale_, t, allowed[t], prices,
                                  useful_cells(options_[set], work[t], rank_work));
    drop_needless_cuts(options_[set], rank_work);
    if (whole_domains_) keep_whole_domains(options_[set], rank_work);
    if (is_grouped(t)) keep_whole(t, allowed, prices);
  }
  for (std::size_t t = 0; t < allowed.size(); ++t)
    if (leader_[t] == static_cast<std::int32_t>(t) && pinned_[t] == nullptr) order_.push_back(t);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
}

bool BoardSearch::is_grouped(std::size_t table) const {
  return std::any_of(
      constraints_.together.begin(), constraints_.together.end(), [&](const auto& group) {
        return std::find(group.begin(), group.end(), static_cast<std::int32_t>(table)) !=
               group.end();
      });
}

/// Cells that may be small only beyond this many: hot rows and overheads leave a margin of four.
std::int32_t BoardSearch::useful_cells(const std::vector<TableOption>& few, double table_work,
                                       double rank_work) const {
  constexpr double kMargin = 4;
  double bytes = 0;
  for (const TableOption& option : few) {
    double sum = 0;
    for (const BoardShard& cell : option.cells) sum += cell.bytes;
    bytes = std::max(bytes, sum);
  }
  const double by_work = rank_work > 0 ? table_work / (kSmallCell * rank_work) : 1;
  const double by_memory = bytes / (kSmallMemory * context_.memory.capacity());
  return static_cast<std::int32_t>(
      std::clamp(kMargin * std::max(by_work, by_memory), double{kFewCells}, 1e6));
}

/// Of every form, options with more cells than the first whose cells are small go.
void BoardSearch::drop_needless_cuts(std::vector<TableOption>& options, double rank_work) const {
  const auto is_small = [&](const TableOption& option) {
    return std::all_of(option.cells.begin(), option.cells.end(), [&](const BoardShard& cell) {
      return board_.work_of(cell.seconds) <= kSmallCell * rank_work &&
             cell.bytes <= kSmallMemory * context_.memory.capacity();
    });
  };
  std::array<std::size_t, kTableForms> enough;
  enough.fill(SIZE_MAX);
  for (const TableOption& option : options) {
    std::size_t& least = enough[static_cast<std::size_t>(option.form)];
    if (option.cells.size() < least && is_small(option)) least = option.cells.size();
  }
  std::erase_if(options, [&](const TableOption& option) {
    return option.cells.size() > enough[static_cast<std::size_t>(option.form)];
  });
}

/// Of options that stand in domains, those that use all ranks of theirs, where a table's least cut
/// would be much of a rank's work.
void BoardSearch::keep_whole_domains(std::vector<TableOption>& options, double rank_work) const {
  const auto fills = [&](const TableOption& option) {
    return option.blocks > 0 && option.cells_a_block() == context_.topology.fast_domain;
  };
  if (std::none_of(options.begin(), options.end(), fills)) return;
  double work = 0;
  for (const TableOption& option : options)
    for (const BoardShard& cell : option.cells) work = std::max(work, board_.work_of(cell.seconds));
  if (work < kMuchWork * rank_work) return;
  std::erase_if(options,
                [&](const TableOption& option) { return option.blocks > 0 && !fills(option); });
}

/// A group that lies on one rank: only uncut options, and the leader's carry all members' work.
void BoardSearch::keep_whole(std::size_t leader, const std::vector<FormSet>& allowed,
                             const LoadFields& prices) {
  std::vector<TableOption>& whole = options_[option_set_[leader]];
  const auto is_cut = [](const TableOption& option) {
    return option.rows * option.columns != 1 || option.form == TableForm::replicated;
  };
  std::erase_if(whole, is_cut);
  for (const std::vector<std::int32_t>& group : constraints_.together) {
    if (group.front() != static_cast<std::int32_t>(leader)) continue;
    for (std::size_t m = 1; m < group.size(); ++m) {
      const std::size_t member = as_index(group[m]);
      for (const TableOption& option :
           table_options(context_, scale_, member, allowed[member], prices)) {
        for (TableOption& sum : whole)
          if (!is_cut(option) && sum.form == option.form) sum.join(option);
      }
    }
  }
}

/// What pinned tables ask of ranks and domains, once and for all.
void BoardSearch::place_pinned() {
  LayoutLoads loads = context_.loads.empty();
  MemoryLoads memory = context_.memory.empty();
  const double common = memory.common;
  for (std::size_t t = 0; t < pinned_.size(); ++t) {
    if (pinned_[t] == nullptr) continue;
    const Exchange exchange = pinned_[t]->exchange.value_or(Exchange::flat);
    context_.loads.add(loads, t, *pinned_[t], {exchange, true, nullptr}, 1);
    context_.memory.add(memory, t, *pinned_[t], exchange, true, 1);
  }
  std::vector<OwnerLoad> inside(loads.domains.size());
  for (std::int32_t r = 0; r < context_.topology.ranks(); ++r) {
    const OwnerLoad& rb = loads.rb[as_index(r)];
    BoardShard shard{scale_.rank_seconds(rb), memory.rank[as_index(r)]};
    const RankSeconds ub = scale_.rank_seconds(loads.ub[as_index(r)]);
    for (std::size_t s = 0; s < kRankStages; ++s) shard.seconds[s] += ub[s];
    board_.add(r, shard, 1);
    OwnerLoad& domain = inside[as_index(context_.topology.domain_of(r))];
    domain.domain_elements += rb.domain_elements;
    for (const std::size_t s : {0U, 1U}) domain.domain_bytes[s] += rb.domain_bytes[s];
  }
  for (std::int32_t d = 0; d < context_.topology.domains(); ++d)
    board_.add_domain(d, scale_.domain_seconds(loads.domains[as_index(d)], inside[as_index(d)]),
                      memory.domain[as_index(d)], 1);
  board_.add_everywhere(0, memory.common - common, 1);
}

/// Every table in its cheapest form, spread perfectly.
void BoardSearch::set_floor() {
  RankSeconds ranks{};
  DomainSeconds domains{};
  for (std::size_t t = 0; t < option_set_.size(); ++t) {
    const TableForm cheapest = mixture_.forms.empty() ? TableForm::flat : mixture_.forms[t];
    for (const TableOption& option : options(t)) {
      if (option.form != cheapest) continue;
      for (const BoardShard& cell : option.cells)
        for (std::size_t s = 0; s < kRankStages; ++s)
          ranks[s] += cell.seconds[s] / context_.topology.ranks();
      for (const DomainSeconds& block : option.block_seconds)
        for (std::size_t s = 0; s < kDomainStages; ++s)
          domains[s] += block[s] / context_.topology.domains();
      break;
    }
  }
  board_.set_floor(ranks, domains);
}

void BoardSearch::put(std::size_t table, const Choice& choice, double sign) {
  const TableOption& option = options(table)[as_index(choice.option)];
  board_.add_everywhere(option.everywhere_s, option.everywhere_bytes, sign);
  for (std::size_t i = 0; i < option.cells.size(); ++i) {
    board_.add(choice.owners[i], option.cells[i], sign);
    domain_order_[as_index(context_.topology.domain_of(choice.owners[i]))].clear();
  }
  const std::int32_t per_block = option.cells_a_block();
  for (std::int32_t b = 0; b < option.blocks; ++b)
    board_.add_domain(choice.owners[as_index(b * per_block)] / context_.topology.fast_domain,
                      option.block_seconds[as_index(b)], option.block_bytes, sign);
}

bool BoardSearch::construct() {
  for (const std::size_t table : order_) {
    if (go_on_ && !go_on_()) return false;
    Candidate best = best_of(table);
    if (!best.found) return false;
    put(table, best.choice, 1);
    choices_[table] = std::move(best.choice);
  }
  board_.refresh();
  return true;
}

bool BoardSearch::improve() {
  const double before = board_.cost();
  for (const std::size_t table : order_) {
    if (go_on_ && !go_on_()) return false;
    const double kept = board_.cost();
    put(table, choices_[table], -1);
    board_.refresh();
    Candidate best = best_of(table);
    if (best.found && best.cost < kept * (1 - 1e-9)) choices_[table] = std::move(best.choice);
    put(table, choices_[table], 1);
  }
  board_.refresh();
  return board_.cost() < before * (1 - kWorthwhile);
}

void BoardSearch::shake(std::mt19937_64& random, double share) {
  std::vector<std::size_t> taken;
  for (const std::size_t table : order_) {
    if (static_cast<double>(random() >> 11) * 0x1p-53 < share) taken.push_back(table);
  }
  for (const std::size_t table : taken) put(table, choices_[table], -1);
  board_.refresh();
  for (const std::size_t table : taken) {
    Candidate best = best_of(table);
    if (best.found) choices_[table] = std::move(best.choice);
    put(table, choices_[table], 1);
  }
  board_.refresh();
}

void BoardSearch::restore(const std::vector<Choice>& choices) {
  for (const std::size_t table : order_) put(table, choices_[table], -1);
  choices_ = choices;
  for (const std::size_t table : order_) put(table, choices_[table], 1);
  board_.refresh();
}

Layout BoardSearch::layout() const {
  Layout layout;
  layout.name = "optimize";
  layout.ranks = context_.topology.ranks();
  for (std::size_t t = 0; t < choices_.size(); ++t) {
    const Table& table = context_.workload.tables[t];
    layout.table_names.push_back(table.name);
    if (pinned_[t] != nullptr) {
      layout.tables.push_back(*pinned_[t]);
      continue;
    }
    const Choice& choice = choices_[as_index(leader_[t])];
    const std::size_t set = as_index(leader_[t]);
    layout.tables.push_back(
        placement_of(table, options(set)[as_index(choice.option)], choice.owners));
  }
  return layout;
}

}  // namespace shardscope
