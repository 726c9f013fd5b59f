#pragma once
// Bytes every rank sends in one iteration, per stage and link class, exactly as the engine's
// communicator counts them. Message formats stand in docs/pipeline.md; the formulas here are their
// sizes.

#include <array>
#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "layout/schedule.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// What the byte formulas need to know of one global batch under one layout.
struct BatchCounts {
  /// Ids of a feature on a rank by row shard of its table:
  /// ids[feature][rank * row_shards + row shard]. DP tables count as one row shard.
  std::vector<std::vector<std::int64_t>> ids;
  /// UB tables: rows a rank asks of a row shard, requests[table][rank * row_shards + row shard]:
  /// distinct over the table's features with dedup, all ids without. Empty for other tables.
  std::vector<std::vector<std::int64_t>> requests;
  /// Distinct rows of the whole batch by row shard, unique[table][row shard].
  std::vector<std::vector<std::int64_t>> unique;

  friend bool operator==(const BatchCounts&, const BatchCounts&) = default;
};

/// Element-wise maximum: capacities that hold every batch counted so far. `into` may be empty.
void raise_to(BatchCounts& into, const BatchCounts& counts);

/// Expected counts from the features' mean lengths with ids spread evenly over the rows; no row
/// repeats (an upper estimate of requests and unique, limited to the rows of a shard).
[[nodiscard]] BatchCounts expected_counts(const Workload& workload, const Layout& layout);

struct LinkBytes {
  std::int64_t intra = 0;
  std::int64_t inter = 0;

  friend bool operator==(const LinkBytes&, const LinkBytes&) = default;
};

/// Bytes sent by one rank, by [stage][work].
struct RankTraffic {
  std::array<std::array<LinkBytes, kWorks>, kStages> sent{};

  [[nodiscard]] LinkBytes total() const;
  [[nodiscard]] LinkBytes at(Stage stage, Work work) const {
    return sent[static_cast<std::size_t>(stage)][static_cast<std::size_t>(work)];
  }

  friend bool operator==(const RankTraffic&, const RankTraffic&) = default;
};

/// fp32 elements that the DP tables all-reduce: a gradient for every element and, behind all of a
/// table's, a touch mark a row (adam updates rows with a zero gradient too).
[[nodiscard]] std::int64_t dp_gradient_elements(const Workload& workload, const Layout& layout);

/// Traffic of every rank for executor `engine`. Exchanges of vectors use the wire type; sums over
/// ranks (DP and dense gradients, row-wise sums of g^2) stay fp32.
[[nodiscard]] std::vector<RankTraffic> traffic_of(const Workload& workload,
                                                  const Topology& topology, const Layout& layout,
                                                  const BatchCounts& counts);

}  // namespace shardscope
