#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "planner/torchrec_planner.hpp"

namespace shardscope {

namespace {

bool is_uniform(TorchRecForm form) {
  return form == TorchRecForm::row_wise || form == TorchRecForm::data_parallel;
}
bool is_hosted(TorchRecForm form) {
  return form == TorchRecForm::table_row_wise || form == TorchRecForm::table_column_wise;
}

class Partition {
 public:
  Partition(const TorchRecMachine& machine, TorchRecPlacement& placement)
      : machine_(machine), placement_(placement) {
    const auto world = static_cast<std::size_t>(machine.world);
    placement.rank_ms.assign(world, 0.0);
    placement.rank_hbm_bytes.assign(world, 0.0);
    for (TorchRecChoice& table : placement.tables) table.ranks.assign(table.shards.size(), -1);
  }

  bool run() {
    for (TorchRecChoice& table : placement_.tables)
      if (is_uniform(table.form) && !place_uniform(table)) return false;
    for (std::int32_t rank = 0; rank < machine_.world; ++rank) heap_.insert(key(rank));
    for (const std::size_t t : by_storage()) {
      TorchRecChoice& table = placement_.tables[t];
      if (is_uniform(table.form)) continue;
      if (is_hosted(table.form) ? !place_on_host(table) : !place_anywhere(table)) return false;
    }
    return true;
  }

 private:
  using Key = std::tuple<double, std::int32_t, std::int32_t>;  ///< time, local rank, rank

  [[nodiscard]] Key key(std::int32_t rank) const {
    return {placement_.rank_ms[static_cast<std::size_t>(rank)], rank % machine_.local_world, rank};
  }
  [[nodiscard]] bool fits(std::int32_t rank, const TorchRecShard& shard) const {
    return placement_.rank_hbm_bytes[static_cast<std::size_t>(rank)] + shard.hbm_bytes <=
           machine_.hbm_bytes;
  }
  void put(TorchRecChoice& table, std::size_t shard, std::int32_t rank) {
    const bool listed = heap_.erase(key(rank)) > 0;
    table.ranks[shard] = rank;
    placement_.rank_ms[static_cast<std::size_t>(rank)] += table.shards[shard].total_ms();
    placement_.rank_hbm_bytes[static_cast<std::size_t>(rank)] += table.shards[shard].hbm_bytes;
    if (listed) heap_.insert(key(rank));
  }
  void take(TorchRecChoice& table, std::size_t shard) {
    const std::int32_t rank = table.ranks[shard];
    heap_.erase(key(rank));
    placement_.rank_ms[static_cast<std::size_t>(rank)] -= table.shards[shard].total_ms();
    placement_.rank_hbm_bytes[static_cast<std::size_t>(rank)] -= table.shards[shard].hbm_bytes;
    heap_.insert(key(rank));
    table.ranks[shard] = -1;
  }

  [[nodiscard]] std::vector<std::size_t> by_storage() const {
    std::vector<std::size_t> order(placement_.tables.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> bytes;
    for (const TorchRecChoice& table : placement_.tables) bytes.push_back(table.total_hbm_bytes());
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    return order;
  }

  /// Replicas of a DP table are one shard that stands on every rank.
  bool place_uniform(TorchRecChoice& table) {
    if (table.form == TorchRecForm::data_parallel) {
      const TorchRecShard& whole = table.shards.front();
      for (std::int32_t rank = 0; rank < machine_.world; ++rank) {
        if (!fits(rank, whole)) return false;
        put(table, 0, rank);
      }
      return true;
    }
    for (std::size_t s = 0; s < table.shards.size(); ++s) {
      if (!fits(static_cast<std::int32_t>(s), table.shards[s])) return false;
      put(table, s, static_cast<std::int32_t>(s));
    }
    return true;
  }

  bool place_anywhere(TorchRecChoice& table) {
    for (std::size_t s = 0; s < table.shards.size(); ++s) {
      const auto found = std::find_if(heap_.begin(), heap_.end(), [&](const Key& candidate) {
        return fits(std::get<2>(candidate), table.shards[s]);
      });
      if (found == heap_.end()) return false;
      put(table, s, std::get<2>(*found));
    }
    return true;
  }

  bool place_on_host(TorchRecChoice& table) {
    const std::int32_t local = machine_.local_world;
    std::vector<std::pair<double, std::int32_t>> hosts;
    for (std::int32_t host = 0; host < machine_.world / local; ++host) {
      const auto first = placement_.rank_ms.begin() + host * local;
      hosts.emplace_back(std::accumulate(first, first + local, 0.0), host);
    }
    std::sort(hosts.begin(), hosts.end());
    for (const auto& [ms, host] : hosts)
      if (try_host(table, host * local)) return true;
    return false;
  }

  bool try_host(TorchRecChoice& table, std::int32_t first) {
    const std::int32_t local = machine_.local_world;
    for (std::size_t s = 0; s < table.shards.size(); ++s) {
      std::int32_t rank = -1;
      if (table.form == TorchRecForm::table_row_wise) {
        const std::int32_t fixed = first + static_cast<std::int32_t>(s) % local;
        if (fits(fixed, table.shards[s])) rank = fixed;
      } else {
        for (std::int32_t candidate = first; candidate < first + local; ++candidate)
          if (fits(candidate, table.shards[s]) && (rank < 0 || key(candidate) < key(rank)))
            rank = candidate;
      }
      if (rank < 0) {
        for (std::size_t placed = 0; placed < s; ++placed) take(table, placed);
        return false;
      }
      put(table, s, rank);
    }
    return true;
  }

  const TorchRecMachine& machine_;
  TorchRecPlacement& placement_;
  std::set<Key> heap_;
};

}  // namespace

double TorchRecChoice::total_ms() const {
  double sum = 0;
  for (const TorchRecShard& shard : shards) sum += shard.total_ms();
  return sum;
}

double TorchRecChoice::total_hbm_bytes() const {
  double sum = 0;
  for (const TorchRecShard& shard : shards) sum += shard.hbm_bytes;
  return sum;
}

double TorchRecPlacement::max_ms() const {
  return rank_ms.empty() ? 0 : *std::max_element(rank_ms.begin(), rank_ms.end());
}

double TorchRecPlacement::mean_ms() const {
  if (rank_ms.empty()) return 0;
  return std::accumulate(rank_ms.begin(), rank_ms.end(), 0.0) / static_cast<double>(rank_ms.size());
}

bool torchrec_partition(const TorchRecMachine& machine, TorchRecPlacement& placement) {
  return Partition(machine, placement).run();
}

}  // namespace shardscope
