#include "planner/memory_packing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "planner/edits.hpp"
#include "planner/placement_board.hpp"
#include "planner/table_options.hpp"

namespace shardscope {

namespace {

/// The least room is found to this share.
constexpr double kPrecision = 2e-3;
/// Cells of a table beyond which a finer cut is not tried; nor are cells below this share of a GPU.
constexpr double kMostCellsPacked = 1024;
constexpr double kSmallestCell = 0.01;

std::size_t place_of(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

/// An option with the bytes that it adds to all ranks together.
struct SizedOption {
  const TableOption* option = nullptr;
  double total = 0;
};

class Packer {
 public:
  Packer(const PlanContext& context, const std::vector<FormSet>& forms)
      : context_(context), scale_(context) {
    const std::size_t tables = forms.size();
    options_.resize(tables);
    sized_.resize(tables);
    for (std::size_t t = 0; t < tables; ++t) {
      options_[t] = table_options(context, scale_, t, forms[t], {}, most_cells(t));
      for (const TableOption& option : options_[t])
        sized_[t].push_back({&option, total_of(option)});
      std::stable_sort(
          sized_[t].begin(), sized_[t].end(),
          [](const SizedOption& a, const SizedOption& b) { return a.total < b.total; });
      if (sized_[t].empty()) placeable_ = false;
      order_.push_back(t);
    }
    if (!placeable_) return;
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return sized_[a].front().total > sized_[b].front().total;
    });
  }

  MemoryPacking run() {
    MemoryPacking packing;
    packing.needed_bytes = HUGE_VAL;
    if (!placeable_) return packing;
    double sum = 0;
    for (const auto& sized : sized_) sum += sized.front().total;
    double below = common() + sum / context_.topology.ranks();
    double above = below;
    while (!pack(above)) {
      below = above;
      above *= 2;
    }
    while (above - below > kPrecision * above) {
      const double middle = (below + above) / 2;
      (pack(middle) ? above : below) = middle;
    }
    (void)pack(above);
    packing.layout = layout();
    packing.needed_bytes = context_.memory.most(context_.memory.of(packing.layout));
    if (!packing.fits(context_.memory.capacity())) {
      (void)pack(context_.memory.capacity(), &packing.left_over);
    }
    return packing;
  }

 private:
  [[nodiscard]] double common() const { return context_.memory.empty().common; }
  [[nodiscard]] std::int32_t ranks() const { return context_.topology.ranks(); }

  [[nodiscard]] std::int32_t most_cells(std::size_t table) const {
    const double bytes =
        context_.memory.shard_bytes(table, ClusterType::RB, 1, context_.facts.tables[table].dim);
    return static_cast<std::int32_t>(
        std::clamp(bytes / (kSmallestCell * context_.memory.capacity()), 2.0, kMostCellsPacked));
  }

  [[nodiscard]] double total_of(const TableOption& option) const {
    double total = option.everywhere_bytes * ranks() +
                   option.block_bytes * option.blocks * context_.topology.fast_domain;
    for (const BoardShard& cell : option.cells) total += cell.bytes;
    return total;
  }

  /// Places every table within `room` bytes a GPU. Tables without room are listed, or end it.
  bool pack(double room, std::vector<std::size_t>* left_over = nullptr) {
    used_.assign(place_of(ranks()), 0.0);
    common_ = common();
    owners_.assign(options_.size(), {});
    chosen_.assign(options_.size(), nullptr);
    for (const std::size_t table : order_) {
      if (place(table, room)) continue;
      if (left_over == nullptr) return false;
      left_over->push_back(table);
    }
    return true;
  }

  bool place(std::size_t table, double room) {
    for (const SizedOption& sized : sized_[table]) {
      const TableOption& option = *sized.option;
      std::vector<std::int32_t> owners;
      if (!find_owners(option, room, owners)) continue;
      common_ += option.everywhere_bytes;
      for (std::size_t i = 0; i < owners.size(); ++i)
        used_[place_of(owners[i])] += option.cells[i].bytes;
      if (option.blocks > 0) add_blocks(option, owners);
      owners_[table] = std::move(owners);
      chosen_[table] = &option;
      return true;
    }
    return false;
  }

  void add_blocks(const TableOption& option, const std::vector<std::int32_t>& owners) {
    const std::int32_t g = context_.topology.fast_domain;
    for (std::int32_t b = 0; b < option.blocks; ++b) {
      const std::int32_t first = owners[place_of(b * option.cells_a_block())] / g * g;
      for (std::int32_t r = first; r < first + g; ++r) used_[place_of(r)] += option.block_bytes;
    }
  }

  /// The emptiest ranks with room; cells of a block on the emptiest ranks of one domain.
  bool find_owners(const TableOption& option, double room, std::vector<std::int32_t>& owners) {
    const double fullest = *std::max_element(used_.begin(), used_.end());
    if (fullest + common_ + option.everywhere_bytes > room) return false;
    if (option.form == TableForm::replicated) return true;
    if (option.everywhere) {
      for (std::size_t i = 0; i < option.cells.size(); ++i)
        owners.push_back(static_cast<std::int32_t>(i));
    } else if (option.blocks > 0) {
      if (!find_blocks(option, owners)) return false;
    } else {
      emptiest(0, ranks(), option.cells.size(), owners);
      if (owners.size() < option.cells.size()) return false;
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const double bytes = option.cells[i].bytes + option.everywhere_bytes + option.block_bytes;
      if (used_[place_of(owners[i])] + common_ + bytes > room) return false;
    }
    return true;
  }

  bool find_blocks(const TableOption& option, std::vector<std::int32_t>& owners) {
    const std::int32_t g = context_.topology.fast_domain;
    std::vector<std::pair<double, std::int32_t>> domains;
    for (std::int32_t d = 0; d < context_.topology.domains(); ++d) {
      const auto first = used_.begin() + static_cast<std::ptrdiff_t>(d * g);
      domains.emplace_back(std::accumulate(first, first + g, 0.0), d);
    }
    if (domains.size() < place_of(option.blocks)) return false;
    std::sort(domains.begin(), domains.end());
    for (std::int32_t b = 0; b < option.blocks; ++b)
      emptiest(domains[place_of(b)].second * g, g, place_of(option.cells_a_block()), owners);
    return owners.size() == option.cells.size();
  }

  void emptiest(std::int32_t first, std::int32_t count, std::size_t wanted,
                std::vector<std::int32_t>& owners) {
    std::vector<std::pair<double, std::int32_t>> ranks;
    for (std::int32_t r = first; r < first + count; ++r) ranks.emplace_back(used_[place_of(r)], r);
    wanted = std::min(wanted, ranks.size());
    std::partial_sort(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(wanted),
                      ranks.end());
    for (std::size_t i = 0; i < wanted; ++i) owners.push_back(ranks[i].second);
  }

  [[nodiscard]] Layout layout() const {
    Layout layout;
    layout.name = "least memory";
    layout.ranks = ranks();
    for (std::size_t t = 0; t < options_.size(); ++t) {
      const Table& table = context_.workload.tables[t];
      layout.table_names.push_back(table.name);
      TablePlacement placement = placement_of(table, *chosen_[t], owners_[t]);
      layout.tables.push_back(context_.options.executor == Executor::hugectr
                                  ? in_hugectr_order(std::move(placement))
                                  : std::move(placement));
    }
    return layout;
  }

  const PlanContext& context_;
  BoardScale scale_;
  std::vector<std::vector<TableOption>> options_;
  std::vector<std::vector<SizedOption>> sized_;
  std::vector<std::size_t> order_;
  bool placeable_ = true;
  std::vector<double> used_;  ///< by rank, beyond common_
  double common_ = 0;
  std::vector<std::vector<std::int32_t>> owners_;
  std::vector<const TableOption*> chosen_;
};

}  // namespace

MemoryPacking pack_by_memory(const PlanContext& context, const std::vector<FormSet>& forms) {
  return Packer(context, forms).run();
}

MemoryPacking pack_by_memory(const PlanContext& context) {
  std::vector<FormSet> forms = legal_forms(context);
  // HugeCTR runs one route for all tables, and sums on the way take memory: flat ones need less.
  for (FormSet& form : forms)
    if ((form & form_bit(TableForm::flat)) != 0 && context.options.executor != Executor::torchrec)
      form &= static_cast<FormSet>(~form_bit(TableForm::hierarchical));
  return pack_by_memory(context, forms);
}

}  // namespace shardscope
