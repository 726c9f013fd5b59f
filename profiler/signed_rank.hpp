#pragma once
// Wilcoxon's signed-rank interval with the Hodges-Lehmann estimate: the centre of differences that
// are symmetric about it. Its coverage does not depend on the shape of their distribution, so
// spikes widen it but do not falsify it.

#include <cstddef>
#include <optional>
#include <span>

namespace shardscope {

/// An estimate with the interval that covers the true value with probability `confidence`.
struct Interval {
  double estimate = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;

  [[nodiscard]] double half_width() const { return (high - low) / 2; }
  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// How many of the n(n+1)/2 ordered pairwise means lie outside the interval on each side: the
/// largest k with 2 P(W <= k) <= alpha. Exact for n <= 20, normal beyond. Empty where n is too
/// small for that alpha (5 differences never give 95 %).
[[nodiscard]] std::optional<std::size_t> signed_rank_cut(std::size_t n, double alpha);

/// The (index + 1)-th smallest of all means (d_i + d_j) / 2, i <= j, of ascending `sorted`.
/// O(n) a step, no memory.
[[nodiscard]] double pairwise_mean_at(std::span<const double> sorted, std::size_t index);

/// Interval for the centre at confidence 1 - alpha; empty where there are too few differences.
[[nodiscard]] std::optional<Interval> signed_rank_interval(std::span<const double> differences,
                                                           double alpha);

}  // namespace shardscope
