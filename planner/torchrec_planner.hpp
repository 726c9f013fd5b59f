#pragma once
// TorchRec's planner: its estimates, its greedy partitioner, its proposers; and a balancer that
// plays by TorchRec's own estimate but cuts columns where that evens out the ranks.

#include <string>
#include <vector>

#include "layout/result.hpp"
#include "planner/named_plan.hpp"
#include "planner/torchrec_estimator.hpp"

namespace shardscope {

/// One table under one sharding type, with the ranks of its shards once placed.
struct TorchRecChoice {
  TorchRecForm form = TorchRecForm::table_wise;
  std::vector<TorchRecShard> shards;
  std::vector<std::int32_t> ranks;  ///< as shards

  [[nodiscard]] double total_ms() const;
  [[nodiscard]] double total_hbm_bytes() const;
};

struct TorchRecPlacement {
  std::vector<TorchRecChoice> tables;
  std::vector<double> rank_ms;
  std::vector<double> rank_hbm_bytes;

  [[nodiscard]] double max_ms() const;
  [[nodiscard]] double mean_ms() const;
};

/// GreedyPerfPartitioner(sort_by=STORAGE): uniform forms first, shard i on rank i; then tables by
/// falling storage, each shard on the rank (for host forms: host) with the least time that fits.
/// False where something fits nowhere (rank lists are then unfinished).
[[nodiscard]] bool torchrec_partition(const TorchRecMachine& machine, TorchRecPlacement& placement);

/// Moves and column halvings (widths stay multiples of 4) that lower the slowest rank under the
/// machine's HBM; uniform forms stay. Stops when no halving helps. Deterministic.
[[nodiscard]] TorchRecPlacement torchrec_balance(const std::vector<TorchRecTable>& tables,
                                                 const TorchRecMachine& machine,
                                                 TorchRecPlacement start);

/// The whole planner. Settings: hbm_cap_gib, reserve (0.15, share of HBM kept free), hbm_bw_gib,
/// intra_bw_gib, inter_bw_gib (GiB/s; the topology's peaks), balanced (false: as TorchRec; true:
/// torchrec_balance behind it). Cost: slowest rank in ms by TorchRec's estimate.
[[nodiscard]] Result<NamedPlan> torchrec_plan(const Workload& workload, const Topology& topology,
                                              const PlanSettings& settings);

/// The layout of a placement: pooled tables RB, others UB without dedup; block rows; table_row_wise
/// hierarchical.
[[nodiscard]] Layout layout_of_torchrec(const Workload& workload, std::int32_t ranks,
                                        const TorchRecPlacement& placement);

}  // namespace shardscope
