#pragma once
// What the cost model needs to know of each table, whatever its layout: ids, bags and vectors a
// sample, distinct rows, popularity.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/table_stats.hpp"
#include "layout/workload.hpp"
#include "planner/id_law.hpp"

namespace shardscope {

/// One table over all features that read it. Amounts "a sample" are means.
struct TableFacts {
  std::string name;
  double rows = 0;
  double dim = 0;
  double weight_bytes = 4;         ///< an element in memory
  double state_element_bytes = 0;  ///< optimizer state of an element
  double state_row_bytes = 0;      ///< and of a row
  bool row_wise_state = false;     ///< column cuts make its owners exchange sums of g^2

  double keys = 0;            ///< ids a sample
  double weighted_keys = 0;   ///< of those, with an fp32 weight
  double bags = 0;            ///< id lists a sample
  double pooled = 0;          ///< pooled vectors a sample
  double largest_pooled = 0;  ///< of those, of one feature
  double unpooled = 0;        ///< vectors a sample that are not pooled (concat, sequence)
  /// Elements a sample the dense part takes in.
  double outputs() const { return (pooled + unpooled) * dim; }

  bool by_popularity = false;  ///< row 0 is the most popular
  IdLaw law;
  TableStats stats;  ///< measured; empty curve: none

  double batch_keys = 0;    ///< ids of the global batch
  double batch_unique = 0;  ///< distinct rows of the global batch
  double rank_keys = 0;     ///< ids of one rank's samples
  double rank_unique = 0;   ///< distinct rows among them

  /// Expected distinct rows among so many ids.
  [[nodiscard]] double unique(double key_count) const;
  /// Share of ids that read the `top` most popular rows.
  [[nodiscard]] double top_mass(double top) const;
  /// Shares of the ids that read rows of row shard j.
  [[nodiscard]] double modulo_share(std::int32_t shard, std::int32_t shards) const;
  [[nodiscard]] double block_share(std::int64_t begin, std::int64_t end) const;
  /// Share of the distinct rows of the batch in rows [begin, end).
  [[nodiscard]] double block_unique_share(std::int64_t begin, std::int64_t end) const;
};

struct WorkloadFacts {
  std::int32_t ranks = 1;
  double batch = 0;       ///< samples an iteration
  double rank_batch = 0;  ///< samples of a rank (mean)
  double wire_bytes = 4;
  double key_bytes = 4;
  std::vector<TableFacts> tables;
};

/// `stats` are matched to tables by name; tables without any use their features' distributions.
[[nodiscard]] WorkloadFacts workload_facts(const Workload& workload, std::int32_t ranks,
                                           const std::vector<TableStats>& stats);

}  // namespace shardscope
