#pragma once
// The search that both of HugeCTR's planners share: place shards greedily on the cheapest bucket,
// then halve one table and place again; the best of all rounds wins. Written from the behaviour of
// HugeCTR's samples/dlrm/sharding and benchmarks/embedding_collection/hugectr/sharding.

#include <cstdint>
#include <vector>

namespace shardscope {

/// A model-parallel table as the search sees it. Indices are positions in the list given.
struct SplitTable {
  double hotness = 1;
  double width = 1;
  double memory = 0;  ///< of the whole table, in the unit of the cap
};

/// What a planner's code fixes.
struct SplitRules {
  std::int32_t buckets = 1;
  double memory_cap = 0;
  double lookup_weight = 1;        ///< of hotness (x width where widths count) in a bucket's cost
  double exchange_weight = 0;      ///< of each shard (x width where widths count)
  bool widths_count = true;        ///< costs are multiplied by shard widths
  double order_lookup_weight = 1;  ///< the same in the order in which shards are placed
  double order_exchange_weight = 0;
  double split_exchange_weight = 0;  ///< in the choice of the table to halve
  bool reorder_for_split = false;    ///< else the first in placing order is halved
  bool columns = false;              ///< try column halves beside row halves
  bool oom_splits_columns = false;   ///< a table that fits nowhere is halved by columns
  int rounds = 20;
};

struct SplitResult {
  bool feasible = false;  ///< false: not even every table on every bucket fits
  double cost = 0;
  std::vector<double> bucket_cost;
  std::vector<std::vector<std::int32_t>> buckets;  ///< tables, in order of placement
  std::vector<std::int32_t> column_factors;        ///< by table
};

[[nodiscard]] SplitResult split_search(const std::vector<SplitTable>& tables,
                                       const SplitRules& rules);

}  // namespace shardscope
