#pragma once
// Memory per GPU and per host of a layout. All sums saturate instead of overflowing.

#include <cstdint>
#include <vector>

#include "layout/executor.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// Bytes by purpose on one GPU or host.
struct MemoryUse {
  std::int64_t weights = 0;
  std::int64_t optimizer_state = 0;
  std::int64_t transients = 0;     ///< optimizer's temporary buffers
  std::int64_t communication = 0;  ///< send and receive buffers
  std::int64_t indices = 0;        ///< ids, lengths, weights of the batch, pointers
  std::int64_t sort = 0;           ///< index calculation
  std::int64_t wgrad = 0;          ///< reduced gradients
  std::int64_t tier_overhead = 0;  ///< per-row bookkeeping of caches and hash tables
  std::int64_t dense = 0;          ///< parameters, gradients, activations
  std::int64_t reserve = 0;        ///< the topology's stated reserve

  [[nodiscard]] std::int64_t total() const;

  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

struct MemoryAccount {
  std::vector<MemoryUse> gpus;   ///< by rank
  std::vector<MemoryUse> hosts;  ///< by host: uvm, ssd caches, load-time copies
};

/// a + b and a * b limited to the largest int64 (never negative for non-negative input).
[[nodiscard]] std::int64_t saturating_add(std::int64_t a, std::int64_t b);
[[nodiscard]] std::int64_t saturating_multiply(std::int64_t a, std::int64_t b);

/// True where memory_of counts every buffer. Else (engine, more than 2^26 numbers in BatchCounts:
/// features x ranks x row shards) it counts weights, state, dense part and reserve alone.
[[nodiscard]] bool memory_is_complete(const Workload& workload, const Layout& layout,
                                      Executor executor);

/// Accounting by the executor's rules. Needs a layout whose geometry is valid (layout/check.hpp).
/// engine: the sum of layout/buffers.hpp at the features' expected lengths under the inter
/// schedule, which holds the most (two batches in flight). hugectr and torchrec: their own buffer
/// rules; formulas and sources stand at each term.
[[nodiscard]] MemoryAccount memory_of(const Workload& workload, const Topology& topology,
                                      const Layout& layout, Executor executor);

}  // namespace shardscope
