#include "profiler/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "layout/invariant.hpp"

namespace shardscope {
namespace {

constexpr std::size_t kExactUpTo = 20;

/// Number of subsets of {1..n} with each sum: the null distribution of W times 2^n.
std::vector<double> subset_sums(std::size_t n) {
  std::vector<double> ways(n * (n + 1) / 2 + 1, 0.0);
  ways[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t sum = rank * (rank + 1) / 2; sum >= rank; --sum) ways[sum] += ways[sum - rank];
  }
  return ways;
}

/// z with P(Z <= z) = p for p in (0, 0.5): Newton on the complementary error function.
double lower_normal_quantile(double p) {
  double z = -std::sqrt(-2 * std::log(p));
  for (int step = 0; step < 60; ++step) {
    const double error = 0.5 * std::erfc(-z / std::sqrt(2.0)) - p;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
    const double change = error / density;
    z -= std::clamp(change, -0.5, 0.5);
    if (std::abs(change) < 1e-13) break;
  }
  return z;
}

std::size_t pairs_up_to(std::span<const double> sorted, double sum) {
  std::size_t count = 0;
  std::size_t end = sorted.size();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    while (end > 0 && sorted[i] + sorted[end - 1] > sum) --end;
    if (end <= i) break;
    count += end - i;
  }
  return count;
}

}  // namespace

std::optional<std::size_t> signed_rank_cut(std::size_t n, double alpha) {
  if (n == 0 || !(alpha > 0)) return std::nullopt;
  if (n > kExactUpTo) {
    const double count = static_cast<double>(n);
    const double mean = count * (count + 1) / 4;
    const double deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
    const double cut = mean + lower_normal_quantile(alpha / 2) * deviation - 0.5;
    if (cut < 0) return std::nullopt;
    return static_cast<std::size_t>(cut);
  }
  const std::vector<double> ways = subset_sums(n);
  const double limit = std::ldexp(alpha / 2, static_cast<int>(n));
  double below = 0;
  std::optional<std::size_t> cut;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    below += ways[sum];
    if (below > limit) break;
    cut = sum;
  }
  return cut;
}

double pairwise_mean_at(std::span<const double> sorted, std::size_t index) {
  SHARDSCOPE_CHECK(index < sorted.size() * (sorted.size() + 1) / 2, "no such pairwise mean");
  double low = 2 * sorted.front();
  double high = 2 * sorted.back();
  if (pairs_up_to(sorted, low) > index) return low / 2;
  // Invariant: at most `index` sums are <= low, more are <= high. 200 halvings reach the last bit
  // of any sum that is not itself below 1e-60 of the range.
  for (int step = 0; step < 200; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (pairs_up_to(sorted, middle) > index ? high : low) = middle;
  }
  return high / 2;
}

std::optional<Interval> signed_rank_interval(std::span<const double> differences, double alpha) {
  const std::size_t n = differences.size();
  const std::optional<std::size_t> cut = signed_rank_cut(n, alpha);
  if (!cut) return std::nullopt;
  std::vector<double> sorted(differences.begin(), differences.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t means = n * (n + 1) / 2;
  const double middle =
      (pairwise_mean_at(sorted, (means - 1) / 2) + pairwise_mean_at(sorted, means / 2)) / 2;
  // With k = cut, P(W <= k) <= alpha / 2 leaves k + 1 means outside the open side; the closed
  // interval runs from the (k + 1)-th smallest to the (k + 1)-th largest.
  return Interval{middle, pairwise_mean_at(sorted, *cut),
                  pairwise_mean_at(sorted, means - 1 - *cut), 1 - alpha};
}

}  // namespace shardscope
