#include <algorithm>
#include <cmath>

#include "planner/board_search.hpp"

namespace shardscope {

namespace {

/// Domains tried for a table, beside those that its options fill.
constexpr std::size_t kDomainsTried = 24;

std::size_t entry(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void BoardSearch::priced(const TableOption& option, Candidate& candidate) const {
  RankSeconds ranks = board_.rank_max();
  DomainSeconds domains = board_.domain_max();
  double added = 0;
  for (std::size_t i = 0; i < option.cells.size(); ++i) {
    const RankSeconds& now = board_.rank(candidate.choice.owners[i]);
    for (std::size_t s = 0; s < kRankStages; ++s)
      ranks[s] = std::max(ranks[s], now[s] + option.cells[i].seconds[s]);
    const double work = board_.work_of(option.cells[i].seconds);
    added += work;
    candidate.spread += board_.work(candidate.choice.owners[i]) + work;
  }
  const std::int32_t per_block = option.cells_a_block();
  for (std::int32_t b = 0; b < option.blocks; ++b) {
    const std::int32_t d =
        candidate.choice.owners[entry(b * per_block)] / context_.topology.fast_domain;
    for (std::size_t s = 0; s < kDomainStages; ++s)
      domains[s] = std::max(domains[s], board_.domain(d)[s] + option.block_seconds[entry(b)][s]);
    added += board_.work_of(option.block_seconds[entry(b)]) * context_.topology.fast_domain;
    candidate.spread += board_.domain_work(d) * per_block;
  }
  candidate.spread /= std::max<double>(1, static_cast<double>(option.cells.size()));
  candidate.found = true;
  candidate.cost = board_.cost_of(ranks, domains) + option.everywhere_s +
                   board_.mean_share() * added / context_.topology.ranks();
}

/// Every rank by falling room for work: as many in order as an option usually asks for.
BoardSearch::IdleRanks BoardSearch::idle_ranks(std::size_t table) const {
  IdleRanks idle;
  std::size_t most = 0;
  for (const TableOption& option : options(table))
    if (option.blocks == 0 && !option.everywhere) most = std::max(most, option.cells.size());
  if (most == 0) return idle;
  for (std::int32_t r = 0; r < context_.topology.ranks(); ++r)
    if (may_hold(table, r)) idle.ranks.emplace_back(board_.work(r), r);
  constexpr std::size_t kSpare = 16;  // ranks without memory for a cell are passed over
  idle.sorted = std::min(idle.ranks.size(), most + kSpare);
  std::partial_sort(idle.ranks.begin(),
                    idle.ranks.begin() + static_cast<std::ptrdiff_t>(idle.sorted),
                    idle.ranks.end());
  return idle;
}

BoardSearch::Candidate BoardSearch::try_anywhere(const TableOption& option, IdleRanks& idle) const {
  Candidate candidate;
  const std::size_t cells = option.cells.size();
  const double bytes = option.cells.front().bytes + option.everywhere_bytes;
  if (idle.ranks.size() < cells) return candidate;
  std::vector<std::int32_t>& owners = candidate.choice.owners;
  for (std::size_t i = 0; i < idle.ranks.size() && owners.size() < cells; ++i) {
    if (i == idle.sorted) {
      std::sort(idle.ranks.begin() + static_cast<std::ptrdiff_t>(i), idle.ranks.end());
      idle.sorted = idle.ranks.size();
    }
    if (board_.fits(idle.ranks[i].second, bytes)) owners.push_back(idle.ranks[i].second);
  }
  if (owners.size() == cells) priced(option, candidate);
  return candidate;
}

/// Ranks of a domain by falling room for work.
const std::vector<std::int32_t>& BoardSearch::ranks_of(std::int32_t domain) const {
  std::vector<std::int32_t>& ranks = domain_order_[entry(domain)];
  if (!ranks.empty()) return ranks;
  const std::int32_t g = context_.topology.fast_domain;
  for (std::int32_t r = domain * g; r < (domain + 1) * g; ++r) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::int32_t a, std::int32_t b) { return board_.work(a) < board_.work(b); });
  return ranks;
}

/// The idlest ranks of a domain that may hold a block's cells; false where they are too few.
bool BoardSearch::block_owners(std::size_t table, const TableOption& option, std::int32_t domain,
                               std::vector<std::int32_t>& owners) const {
  const double bytes = option.cells.front().bytes + option.everywhere_bytes + option.block_bytes;
  const std::size_t wanted = owners.size() + entry(option.cells_a_block());
  for (const std::int32_t rank : ranks_of(domain)) {
    if (owners.size() == wanted) return true;
    if (may_hold(table, rank) && board_.fits(rank, bytes)) owners.push_back(rank);
  }
  return owners.size() == wanted;
}

BoardSearch::Candidate BoardSearch::try_blocks(std::size_t table, const TableOption& option,
                                               const std::vector<std::int32_t>& domains) const {
  struct Block {
    double cost = 0, spread = 0;
    std::int32_t domain = 0;
  };
  std::vector<Block> blocks;
  blocks.reserve(domains.size());
  std::vector<std::int32_t> owners;
  for (const std::int32_t d : domains) {
    owners.clear();
    if (!block_owners(table, option, d, owners)) continue;
    Block& block = blocks.emplace_back();
    block.domain = d;
    RankSeconds rank_max = board_.rank_max();
    DomainSeconds domain_max = board_.domain_max();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const RankSeconds& now = board_.rank(owners[i]);
      for (std::size_t s = 0; s < kRankStages; ++s)
        rank_max[s] = std::max(rank_max[s], now[s] + option.cells[i].seconds[s]);
      block.spread += board_.work(owners[i]);
    }
    for (std::size_t s = 0; s < kDomainStages; ++s)
      domain_max[s] =
          std::max(domain_max[s], board_.domain(d)[s] + option.block_seconds.front()[s]);
    block.spread = block.spread / static_cast<double>(owners.size()) + board_.domain_work(d);
    block.cost = board_.cost_of(rank_max, domain_max);
  }
  Candidate candidate;
  const std::size_t wanted = entry(option.blocks);
  if (blocks.size() < wanted) return candidate;
  const auto better = [](const Block& a, const Block& b) {
    if (std::abs(a.cost - b.cost) > 1e-12) return a.cost < b.cost;
    return a.spread != b.spread ? a.spread < b.spread : a.domain < b.domain;
  };
  if (wanted == 1) {
    std::iter_swap(blocks.begin(), std::min_element(blocks.begin(), blocks.end(), better));
  } else {
    std::partial_sort(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(wanted),
                      blocks.end(), better);
  }
  for (std::size_t i = 0; i < wanted; ++i)
    (void)block_owners(table, option, blocks[i].domain, candidate.choice.owners);
  priced(option, candidate);
  return candidate;
}

/// Domains worth a try for one table: the least busy ones.
std::vector<std::int32_t> BoardSearch::idle_domains(std::size_t table) const {
  std::int32_t most = 0;
  for (const TableOption& option : options(table)) most = std::max(most, option.blocks);
  if (most == 0) return {};
  std::vector<std::pair<double, std::int32_t>> domains;
  for (std::int32_t d = 0; d < context_.topology.domains(); ++d) {
    const double idlest = board_.work(ranks_of(d).front());
    domains.emplace_back(idlest + board_.domain_work(d), d);
  }
  const std::size_t tried = std::min(domains.size(), entry(most) + kDomainsTried);
  std::partial_sort(domains.begin(), domains.begin() + static_cast<std::ptrdiff_t>(tried),
                    domains.end());
  std::vector<std::int32_t> result;
  // Tables with wishes of their own may find room in the others alone.
  const std::size_t end = only_[table].empty() ? tried : domains.size();
  for (std::size_t i = 0; i < end; ++i) result.push_back(domains[i].second);
  return result;
}

BoardSearch::Candidate BoardSearch::try_everywhere(std::size_t table,
                                                   const TableOption& option) const {
  Candidate candidate;
  for (std::size_t i = 0; i < option.cells.size(); ++i) {
    const auto rank = static_cast<std::int32_t>(i);
    if (!may_hold(table, rank) ||
        !board_.fits(rank, option.cells[i].bytes + option.everywhere_bytes))
      return candidate;
    candidate.choice.owners.push_back(rank);
  }
  priced(option, candidate);
  return candidate;
}

BoardSearch::Candidate BoardSearch::try_option(std::size_t table, std::int32_t at, IdleRanks& idle,
                                               const std::vector<std::int32_t>& domains) const {
  const TableOption& option = options(table)[entry(at)];
  Candidate candidate;
  if (option.form == TableForm::replicated) {
    if (!board_.fits_everywhere(option.everywhere_bytes)) return candidate;
    priced(option, candidate);
  } else if (option.blocks > 0) {
    candidate = try_blocks(table, option, domains);
    // The least busy ones may be full.
    if (!candidate.found && domains.size() < entry(context_.topology.domains()))
      candidate = try_blocks(table, option, all_domains_);
  } else if (option.everywhere) {
    candidate = try_everywhere(table, option);
  } else {
    candidate = try_anywhere(option, idle);
  }
  candidate.choice.option = at;
  return candidate;
}

BoardSearch::Candidate BoardSearch::best_of(std::size_t table) const {
  Candidate best;
  IdleRanks idle = idle_ranks(table);
  const std::vector<std::int32_t> domains = idle_domains(table);
  for (std::size_t o = 0; o < options(table).size(); ++o) {
    Candidate candidate = try_option(table, static_cast<std::int32_t>(o), idle, domains);
    if (!candidate.found) continue;
    const bool tie = best.found && std::abs(candidate.cost - best.cost) <= 1e-12 * best.cost;
    if (!best.found || (tie ? candidate.spread < best.spread : candidate.cost < best.cost))
      best = std::move(candidate);
  }
  return best;
}

}  // namespace shardscope
