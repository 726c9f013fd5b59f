#pragma once
// Terms that the memory rules of several executors share. Private to memory*.cpp.

#include <cstdint>
#include <vector>

#include "layout/memory.hpp"

namespace shardscope {

inline constexpr std::int64_t kFp32Bytes = 4;

/// a * b * c, saturating.
[[nodiscard]] std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c);

/// A non-negative real amount of bytes as a whole number, rounded up, saturating.
[[nodiscard]] std::int64_t whole_bytes(double bytes);

inline void raise_by(std::int64_t& sum, std::int64_t bytes) {
  sum = saturating_add(sum, bytes);
}

/// One cell of a table's grid, or the whole replicated table.
struct ShardSize {
  std::int64_t rows = 0;
  std::int64_t width = 0;
};

[[nodiscard]] std::int64_t weight_bytes(const Table& table, const ShardSize& shard);
/// State words per element and per row, 4 bytes each; row-wise state once a column shard.
[[nodiscard]] std::int64_t state_bytes(const Table& table, const ShardSize& shard);

/// Adds a shard's weights and state where its tier keeps them: on the GPU, on the host, or a part
/// on either, with the tier's bookkeeping per row. `key_bytes` is the executor's.
void add_shard(const Table& table, const ShardSize& shard, const ShardTier& tier,
               std::int64_t key_bytes, MemoryUse& gpu, MemoryUse& host);

/// Every shard of the layout through add_shard, DP tables on every rank; then the staging copy of
/// loading: the largest shard of each rank once on its host.
void add_tables(const Workload& workload, const Topology& topology, const Layout& layout,
                std::int64_t key_bytes, MemoryAccount& account);

/// Bags of all samples of a feature in one global batch.
[[nodiscard]] std::int64_t bags_of_batch(const Workload& workload, const Feature& feature);

/// Rules of one executor beyond weights, state and reserve.
void add_engine_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                        MemoryAccount& account);
void add_hugectr_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                         MemoryAccount& account);
void add_torchrec_buffers(const Workload& workload, const Topology& topology, const Layout& layout,
                          MemoryAccount& account);

}  // namespace shardscope
