#pragma once
// Turns "shares of distinct rows by how often a batch reads them" into read counts of a batch.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Rows of one batch that are read equally often.
struct ReuseClass {
  std::int64_t reads = 1;    ///< of each row
  double share_of_rows = 0;  ///< of the distinct rows; before a batch's size is known
};

/// The bins cut into classes, most read first. Inside a bin the number of rows read c times falls
/// as c^-2, which reproduces the mean reads a bin of the published production histograms
/// (3.4 in (2,4], 11.6 in (8,16]). Bins up to 8 wide give a class for every count, wider ones 8
/// classes; the open last bin ends at twice its lower bound. Errors name `place`: shares that are
/// negative or all zero, bounds below 1 or not ascending.
[[nodiscard]] Result<std::vector<ReuseClass>> reuse_classes(const std::vector<ReuseBin>& bins,
                                                            const std::string& place);

/// Distinct rows of one batch of exactly `keys` keys.
class ReusePlan {
 public:
  /// Classes read more often than the batch has keys are left out. Keys that whole rows cannot take
  /// are carried to the next class; those left at the end become rows of the last class and at most
  /// one row read less often.
  ReusePlan(const std::vector<ReuseClass>& classes, std::int64_t keys);

  [[nodiscard]] std::int64_t distinct_rows() const { return rows_; }
  /// Rows read at least `reads` times: popularity ranks [0, that).
  [[nodiscard]] std::int64_t rows_read_at_least(std::int64_t reads) const;
  /// Popularity rank that key position [0, keys) reads.
  [[nodiscard]] std::int64_t rank_of(std::int64_t position) const;

 private:
  struct Run {
    std::int64_t first_key = 0;
    std::int64_t first_rank = 0;
    std::int64_t reads = 1;
    std::int64_t rows = 0;
  };
  std::vector<Run> runs_;  ///< ascending in first_key, descending in reads
  std::int64_t rows_ = 0;
};

}  // namespace shardscope::engine
