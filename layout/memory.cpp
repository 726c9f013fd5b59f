#include "layout/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "layout/memory_parts.hpp"

namespace shardscope {

namespace {

/// FBGEMM's software cache (split_table_batched_embeddings_ops_training.py): a 4-byte index a row
/// of the table and 16 bytes of tags and timestamps a cached row.
constexpr double kCacheIndexBytesPerRow = 4;
constexpr double kCacheTagBytesPerCachedRow = 16;

/// An open-addressing map of keys to 8-byte row pointers, at most half full (cuCollections'
/// advice for static maps).
std::int64_t hash_map_bytes(std::int64_t rows, std::int64_t key_bytes) {
  constexpr std::int64_t kPointerBytes = 8;
  return product(rows, key_bytes + kPointerBytes, 2);
}

std::int64_t share_of(std::int64_t bytes, double share) {
  return whole_bytes(static_cast<double>(bytes) * share);
}

/// Bytes of the largest shard a rank loads.
using Largest = std::vector<std::int64_t>;

void add_one(const Table& table, const ShardSize& shard, const ShardTier& tier,
             const Topology& topology, std::int32_t rank, std::int64_t key_bytes,
             MemoryAccount& account, Largest& largest) {
  const auto host = static_cast<std::size_t>(topology.host_of(rank));
  add_shard(table, shard, tier, key_bytes, account.gpus[static_cast<std::size_t>(rank)],
            account.hosts[host]);
  std::int64_t& most = largest[static_cast<std::size_t>(rank)];
  most = std::max(most, saturating_add(weight_bytes(table, shard), state_bytes(table, shard)));
}

}  // namespace

std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return saturating_multiply(saturating_multiply(a, b), c);
}

std::int64_t whole_bytes(double bytes) {
  constexpr double kLargest = 9223372036854774784.0;  // the largest double below 2^63
  return static_cast<std::int64_t>(std::clamp(std::ceil(bytes), 0.0, kLargest));
}

std::int64_t weight_bytes(const Table& table, const ShardSize& shard) {
  return product(shard.rows, shard.width, bytes_of(table.dtype));
}

std::int64_t state_bytes(const Table& table, const ShardSize& shard) {
  const std::int64_t words =
      saturating_add(saturating_multiply(table.optimizer.words_per_element, shard.width),
                     table.optimizer.words_per_row);
  return product(shard.rows, words, 4);
}

void add_shard(const Table& table, const ShardSize& shard, const ShardTier& tier,
               std::int64_t key_bytes, MemoryUse& gpu, MemoryUse& host) {
  const std::int64_t weights = weight_bytes(table, shard);
  const std::int64_t state = state_bytes(table, shard);
  const auto rows = static_cast<double>(shard.rows);
  const double cached = tier.cache_load_factor;
  const std::int64_t bookkeeping =
      whole_bytes(rows * (kCacheIndexBytesPerRow + kCacheTagBytesPerCachedRow * cached));
  switch (tier.tier) {
    case Tier::hbm:
      raise_by(gpu.weights, weights);
      raise_by(gpu.optimizer_state, state);
      break;
    case Tier::hash:
      raise_by(gpu.weights, weights);
      raise_by(gpu.optimizer_state, state);
      raise_by(gpu.tier_overhead, hash_map_bytes(shard.rows, key_bytes));
      break;
    case Tier::uvm:
      raise_by(host.weights, weights);
      raise_by(host.optimizer_state, state);
      break;
    case Tier::uvm_cached:
      raise_by(host.weights, weights);
      raise_by(host.optimizer_state, state);
      [[fallthrough]];
    case Tier::ssd:
      raise_by(gpu.weights, share_of(weights, cached));
      raise_by(gpu.optimizer_state, share_of(state, cached));
      raise_by(gpu.tier_overhead, bookkeeping);
      break;
  }
}

void add_tables(const Workload& workload, const Topology& topology, const Layout& layout,
                std::int64_t key_bytes, MemoryAccount& account) {
  const std::int32_t ranks = topology.ranks();
  Largest largest(static_cast<std::size_t>(ranks), 0);
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const Table& table = workload.tables[t];
    const TablePlacement& placement = layout.tables[t];
    const ShardTier whole = placement.tiers.empty() ? ShardTier{} : placement.tiers.front();
    if (placement.cluster != ClusterType::DP) continue;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      add_one(table, {table.rows, table.dim}, whole, topology, rank, key_bytes, account, largest);
    }
  }
  for (const Shard& shard : shards_of(layout)) {
    const auto t = static_cast<std::size_t>(shard.table);
    const TablePlacement& placement = layout.tables[t];
    const auto cell =
        static_cast<std::size_t>(shard.row * placement.column_shards() + shard.column);
    const ShardSize size{placement.rows_in(shard.row, workload.tables[t].rows),
                         placement.width(shard.column)};
    add_one(workload.tables[t], size, placement.tiers.empty() ? ShardTier{} : placement.tiers[cell],
            topology, shard.owner, key_bytes, account, largest);
  }
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    raise_by(account.hosts[static_cast<std::size_t>(topology.host_of(rank))].transients,
             largest[static_cast<std::size_t>(rank)]);
  }
}

std::int64_t bags_of_batch(const Workload& workload, const Feature& feature) {
  return saturating_multiply(workload.global_batch, feature.num_poolings);
}

MemoryAccount memory_of(const Workload& workload, const Topology& topology, const Layout& layout,
                        Executor executor) {
  MemoryAccount account;
  account.gpus.resize(static_cast<std::size_t>(topology.ranks()));
  account.hosts.resize(static_cast<std::size_t>(topology.hosts));
  // TorchRec's ids are 8 bytes whatever the model says.
  const std::int64_t key_bytes = executor == Executor::torchrec ? 8 : bytes_of(workload.key);
  add_tables(workload, topology, layout, key_bytes, account);
  switch (executor) {
    case Executor::engine:
      add_engine_buffers(workload, topology, layout, account);
      break;
    case Executor::hugectr:
      add_hugectr_buffers(workload, topology, layout, account);
      break;
    case Executor::torchrec:
      add_torchrec_buffers(workload, topology, layout, account);
      break;
  }
  for (MemoryUse& gpu : account.gpus) gpu.reserve = topology.reserve_bytes;
  return account;
}

}  // namespace shardscope
