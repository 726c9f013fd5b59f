#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "planner/torchrec_planner.hpp"

namespace shardscope {

namespace {

/// Columns a shard keeps at least: TorchRec's kernels want multiples of 4.
constexpr std::int32_t kColumnStep = 4;

/// Rounds of halving after which a plan that still improves is good enough.
constexpr int kMostHalvings = 256;

bool cuts_columns(TorchRecForm form) {
  return form == TorchRecForm::table_wise || form == TorchRecForm::column_wise;
}

struct MovableShard {
  std::size_t table = 0;
  std::size_t shard = 0;
  double ms = 0;
  double bytes = 0;
};

class Balance {
 public:
  Balance(const std::vector<TorchRecTable>& tables, const TorchRecMachine& machine,
          TorchRecPlacement placement)
      : tables_(tables), machine_(machine), placement_(std::move(placement)) {}

  TorchRecPlacement run() {
    TorchRecPlacement best = placement_;
    if (place_longest_first() && placement_.max_ms() < best.max_ms()) best = placement_;
    for (int halving = 0; halving < kMostHalvings; ++halving) {
      // Even a perfect spread of what there is cannot beat the mean.
      if (best.max_ms() <= placement_.mean_ms() * (1 + 1e-3)) break;
      if (!halve_worst()) break;
      if (place_longest_first() && placement_.max_ms() < best.max_ms()) best = placement_;
    }
    return best;
  }

 private:
  /// Longest processing time first over everything that may move. False: something fits nowhere.
  bool place_longest_first() {
    const auto world = static_cast<std::size_t>(machine_.world);
    placement_.rank_ms.assign(world, 0.0);
    placement_.rank_hbm_bytes.assign(world, 0.0);
    std::vector<MovableShard> movable;
    for (std::size_t t = 0; t < placement_.tables.size(); ++t) {
      TorchRecChoice& table = placement_.tables[t];
      for (std::size_t s = 0; s < table.shards.size(); ++s) {
        const MovableShard shard{t, s, table.shards[s].total_ms(), table.shards[s].hbm_bytes};
        if (cuts_columns(table.form)) {
          movable.push_back(shard);
          continue;
        }
        const bool everywhere = table.form == TorchRecForm::data_parallel;
        for (std::size_t r = 0; r < world; ++r)
          if (everywhere || table.ranks[s] == static_cast<std::int32_t>(r)) load(r, shard);
      }
    }
    std::stable_sort(movable.begin(), movable.end(),
                     [](const MovableShard& a, const MovableShard& b) { return a.ms > b.ms; });
    std::set<std::pair<double, std::size_t>> order;
    for (std::size_t r = 0; r < world; ++r) order.emplace(placement_.rank_ms[r], r);
    for (const MovableShard& shard : movable) {
      const auto found = std::find_if(order.begin(), order.end(), [&](const auto& rank) {
        return placement_.rank_hbm_bytes[rank.second] + shard.bytes <= machine_.hbm_bytes;
      });
      if (found == order.end()) return false;
      const std::size_t r = found->second;
      order.erase(found);
      load(r, shard);
      placement_.tables[shard.table].ranks[shard.shard] = static_cast<std::int32_t>(r);
      order.emplace(placement_.rank_ms[r], r);
    }
    return true;
  }

  void load(std::size_t rank, const MovableShard& shard) {
    placement_.rank_ms[rank] += shard.ms;
    placement_.rank_hbm_bytes[rank] += shard.bytes;
  }

  /// Halves the columns of the longest shard of the slowest rank that still can be.
  bool halve_worst() {
    const auto slowest = static_cast<std::int32_t>(
        std::max_element(placement_.rank_ms.begin(), placement_.rank_ms.end()) -
        placement_.rank_ms.begin());
    MovableShard worst;
    for (std::size_t t = 0; t < placement_.tables.size(); ++t) {
      const TorchRecChoice& table = placement_.tables[t];
      if (!cuts_columns(table.form)) continue;
      for (std::size_t s = 0; s < table.shards.size(); ++s) {
        if (table.ranks[s] != slowest || table.shards[s].columns < 2 * kColumnStep) continue;
        if (table.shards[s].total_ms() > worst.ms)
          worst = {t, s, table.shards[s].total_ms(), table.shards[s].hbm_bytes};
      }
    }
    if (worst.ms <= 0) return false;
    TorchRecChoice& table = placement_.tables[worst.table];
    table.form = TorchRecForm::column_wise;
    TorchRecShard left = table.shards[worst.shard];
    TorchRecShard right = left;
    left.columns = (left.columns / 2 + kColumnStep - 1) / kColumnStep * kColumnStep;
    right.first_column += left.columns;
    right.columns -= left.columns;
    torchrec_estimate(tables_[worst.table], table.form, machine_, left);
    torchrec_estimate(tables_[worst.table], table.form, machine_, right);
    table.shards[worst.shard] = left;
    table.shards.insert(table.shards.begin() + static_cast<std::ptrdiff_t>(worst.shard) + 1, right);
    table.ranks.insert(table.ranks.begin() + static_cast<std::ptrdiff_t>(worst.shard) + 1, slowest);
    return true;
  }

  const std::vector<TorchRecTable>& tables_;
  const TorchRecMachine& machine_;
  TorchRecPlacement placement_;
};

}  // namespace

TorchRecPlacement torchrec_balance(const std::vector<TorchRecTable>& tables,
                                   const TorchRecMachine& machine, TorchRecPlacement start) {
  return Balance(tables, machine, std::move(start)).run();
}

}  // namespace shardscope
