#pragma once
// How well predicted times agree with measured ones.

#include <cstddef>
#include <vector>

namespace shardscope::bench {

/// The median of repeated measurements and a 95 % interval for it (order statistics, no
/// distribution assumed; with fewer than six the whole range).
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
};

[[nodiscard]] MedianInterval median_interval(std::vector<double> values);

/// Kendall's tau of predictions over the pairs whose measured intervals do not overlap.
struct RankAgreement {
  double tau = 0;
  std::size_t pairs = 0;  ///< that differ for certain
  std::size_t all_pairs = 0;
};

[[nodiscard]] RankAgreement rank_agreement(const std::vector<double>& predicted,
                                           const std::vector<MedianInterval>& measured);

/// What taking the best predicted instead of the best measured costs, with its interval.
struct Regret {
  double share = 0;  ///< measured time of the one over that of the other, less 1
  double half_width = 0;
};

[[nodiscard]] Regret regret(const std::vector<double>& predicted,
                            const std::vector<MedianInterval>& measured);

}  // namespace shardscope::bench
