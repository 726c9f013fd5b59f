#include "planner/edits.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace shardscope {

namespace {

constexpr std::size_t kTargetsAShard = 3;  ///< emptiest ranks tried
constexpr std::int32_t kMostCells = 32;    ///< of a table cut anew

std::size_t index_of(std::int32_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

EditMaker::EditMaker(const PlanContext& context, const std::vector<FormSet>& allowed,
                     std::vector<bool> usable)
    : context_(context),
      allowed_(allowed),
      usable_(std::move(usable)),
      scale_(context),
      options_(allowed.size()) {}

void EditMaker::look(const Layout& layout) {
  layout_ = &layout;
  work_ = work_of(context_.loads.of(layout));
}

std::vector<double> EditMaker::work_of(const LayoutLoads& loads) const {
  std::vector<double> work(loads.rb.size(), 0.0);
  for (std::size_t r = 0; r < work.size(); ++r) {
    for (const OwnerLoad* owner : {&loads.rb[r], &loads.ub[r]}) {
      const RankSeconds seconds = scale_.rank_seconds(*owner);
      work[r] += std::accumulate(seconds.begin(), seconds.end(), 0.0);
    }
  }
  return work;
}

std::vector<double> EditMaker::work_without(std::size_t table) const {
  LayoutLoads loads = context_.loads.empty();
  context_.loads.add(loads, table, layout_->tables[table], exchange_choice(*layout_, table), 1);
  std::vector<double> work = work_of(loads);
  for (std::size_t r = 0; r < work.size(); ++r) work[r] = work_[r] - work[r];
  return work;
}

std::int32_t EditMaker::busiest_of(const std::vector<std::int32_t>& ranks) const {
  return *std::max_element(ranks.begin(), ranks.end(), [&](std::int32_t a, std::int32_t b) {
    return work_[index_of(a)] < work_[index_of(b)];
  });
}

std::vector<std::size_t> EditMaker::heaviest_on(std::int32_t rank, std::size_t count) const {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t t = 0; t < layout_->tables.size(); ++t) {
    const std::vector<std::int32_t>& owners = layout_->tables[t].owners;
    const auto cells = static_cast<double>(std::count(owners.begin(), owners.end(), rank));
    if (cells == 0) continue;
    const TableFacts& facts = context_.facts.tables[t];
    const double share = cells / static_cast<double>(owners.size());
    found.emplace_back(-(facts.batch_keys + facts.batch_unique * 4) * facts.dim * share, t);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> tables;
  for (std::size_t i = 0; i < found.size() && i < count; ++i) tables.push_back(found[i].second);
  return tables;
}

std::vector<std::int32_t> EditMaker::emptiest(const std::vector<double>& work, std::size_t count,
                                              std::int32_t domain,
                                              const std::vector<std::int32_t>& taken) const {
  std::vector<std::pair<double, std::int32_t>> ranks;
  const std::int32_t g = context_.topology.fast_domain;
  for (std::int32_t r = 0; r < context_.topology.ranks(); ++r) {
    if (domain >= 0 && r / g != domain) continue;
    if (!usable_[index_of(r)] || std::find(taken.begin(), taken.end(), r) != taken.end()) continue;
    ranks.emplace_back(work[index_of(r)], r);
  }
  count = std::min(count, ranks.size());
  std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end());
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(ranks[i].second);
  return result;
}

std::int32_t EditMaker::emptiest_domain(const std::vector<double>& work) const {
  std::vector<double> domains(index_of(context_.topology.domains()), 0.0);
  for (std::size_t r = 0; r < work.size(); ++r)
    domains[index_of(context_.topology.domain_of(static_cast<std::int32_t>(r)))] += work[r];
  return static_cast<std::int32_t>(std::min_element(domains.begin(), domains.end()) -
                                   domains.begin());
}

void EditMaker::add_moves(std::size_t table, std::int32_t rank,
                          std::vector<TablePlacement>& edits) const {
  const TablePlacement& now = layout_->tables[table];
  if (std::find(now.owners.begin(), now.owners.end(), rank) == now.owners.end()) return;
  // TorchRec's row shards stand on fixed ranks.
  if (context_.options.executor == Executor::torchrec && now.row_shards > 1) return;
  const bool keeps_domain = now.cluster == ClusterType::RB && now.owners.size() > 1 &&
                            layout_->exchange_of(table) == Exchange::hierarchical;
  const std::int32_t domain = keeps_domain ? context_.topology.domain_of(rank) : -1;
  for (const std::int32_t to : emptiest(work_, kTargetsAShard, domain, now.owners)) {
    TablePlacement moved = now;
    *std::find(moved.owners.begin(), moved.owners.end(), rank) = to;
    edits.push_back(std::move(moved));
  }
}

/// HugeCTR has one communication strategy for all RB tables.
bool EditMaker::may_stand_beside_others(std::size_t table, const TablePlacement& placement) const {
  if (context_.options.executor != Executor::hugectr || placement.cluster != ClusterType::RB)
    return true;
  for (std::size_t t = 0; t < layout_->tables.size(); ++t)
    if (t != table && layout_->tables[t].cluster == ClusterType::RB)
      return placement.exchange.value_or(layout_->exchange_of(t)) == layout_->exchange_of(t);
  return true;
}

/// Codecs stay where the new form may have them.
void EditMaker::keep_codecs(const TablePlacement& now, TablePlacement& cut) {
  if (!now.codecs || cut.cluster == ClusterType::DP) return;
  cut.codecs = now.codecs;
  if (cut.exchange != Exchange::hierarchical) return;
  cut.codecs->forward_intra = {};
  cut.codecs->backward_intra = {};
}

/// They depend on the table alone: found once.
const std::vector<TableOption>& EditMaker::options_of(std::size_t table) const {
  std::vector<TableOption>& options = options_[table];
  if (options.empty())
    options = table_options(context_, scale_, table, allowed_[table], LoadFields(), kMostCells);
  return options;
}

void EditMaker::add_cuts(std::size_t table, std::vector<TablePlacement>& edits) const {
  const std::vector<double> others = work_without(table);
  for (const TableOption& option : options_of(table)) {
    if (option.blocks > 1 || option.everywhere) continue;
    std::vector<std::int32_t> owners;
    if (option.form != TableForm::replicated) {
      const std::size_t cells = index_of(option.rows * option.columns);
      owners = emptiest(others, cells, option.blocks == 1 ? emptiest_domain(others) : -1, {});
      if (owners.size() < cells) continue;
    }
    TablePlacement cut = placement_of(context_.workload.tables[table], option, owners);
    keep_codecs(layout_->tables[table], cut);
    if (!may_stand_beside_others(table, cut)) continue;
    if (!(cut == layout_->tables[table])) edits.push_back(std::move(cut));
  }
}

std::vector<TablePlacement> EditMaker::edits_of(std::size_t table, std::int32_t rank) const {
  std::vector<TablePlacement> edits;
  add_moves(table, rank, edits);
  add_cuts(table, edits);
  if (context_.options.executor == Executor::hugectr) {
    for (TablePlacement& edit : edits) edit = in_hugectr_order(std::move(edit));
  }
  return edits;
}

TablePlacement in_hugectr_order(TablePlacement placement) {
  std::vector<std::int32_t> sorted = placement.owners;
  std::sort(sorted.begin(), sorted.end());
  for (std::int32_t k = 0; k < placement.column_shards(); ++k)
    for (std::int32_t j = 0; j < placement.row_shards; ++j)
      if (!sorted.empty())
        placement.owners[index_of(j * placement.column_shards() + k)] =
            sorted[index_of(k * placement.row_shards + j)];
  return placement;
}

}  // namespace shardscope
