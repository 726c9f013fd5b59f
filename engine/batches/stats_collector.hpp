#pragma once
// Accumulates the statistics of one table over global batches.

#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/batches/row_set.hpp"
#include "layout/table_stats.hpp"

namespace shardscope::engine {

class TableStatsCollector {
 public:
  /// `features` read the table.
  TableStatsCollector(const Workload& workload, std::int32_t table,
                      std::vector<std::int32_t> features);

  /// One global batch: the parts of all ranks, the same number every time.
  void add(const std::vector<RankBatch>& parts);
  [[nodiscard]] TableStats finish() const;

 private:
  void count_lengths(const RankBatch& part);
  void add_point(std::size_t point, std::int64_t keys, std::int64_t unique);

  const Table& table_;
  std::vector<std::int32_t> features_;
  std::int64_t samples_ = 0;
  std::int64_t batches_ = 0;
  std::vector<std::int64_t> bags_of_length_;
  std::vector<UniquePoint> unique_sums_;  ///< of 1, 2, 4, ... ranks' shares, then all
  RowCounts reads_;
};

}  // namespace shardscope::engine
