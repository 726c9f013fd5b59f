#include "bench/validate/agreement.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::bench {

MedianInterval median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  // The largest k whose interval (k-th smallest to k-th largest) holds the median with 95 %.
  std::size_t k = 0;
  double outside = 0, term = std::pow(0.5, static_cast<double>(n));
  for (std::size_t i = 0; i < n / 2; ++i) {
    outside += 2 * term;
    if (outside > 0.05) break;
    k = i;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {median, values[k], values[n - 1 - k]};
}

RankAgreement rank_agreement(const std::vector<double>& predicted,
                             const std::vector<MedianInterval>& measured) {
  RankAgreement result;
  double agreeing = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t j = i + 1; j < measured.size(); ++j) {
      ++result.all_pairs;
      const bool overlap =
          measured[i].low <= measured[j].high && measured[j].low <= measured[i].high;
      if (overlap) continue;
      ++result.pairs;
      const double order =
          (predicted[i] - predicted[j]) * (measured[i].median - measured[j].median);
      agreeing += order > 0 ? 1 : order < 0 ? -1 : 0;
    }
  }
  if (result.pairs > 0) result.tau = agreeing / static_cast<double>(result.pairs);
  return result;
}

Regret regret(const std::vector<double>& predicted, const std::vector<MedianInterval>& measured) {
  const auto chosen = static_cast<std::size_t>(
      std::min_element(predicted.begin(), predicted.end()) - predicted.begin());
  std::size_t best = 0;
  for (std::size_t i = 1; i < measured.size(); ++i)
    if (measured[i].median < measured[best].median) best = i;
  const MedianInterval& taken = measured[chosen];
  const MedianInterval& least = measured[best];
  const auto half = [](const MedianInterval& one) { return (one.high - one.low) / 2 / one.median; };
  return {taken.median / least.median - 1, std::hypot(half(taken), half(least))};
}

}  // namespace shardscope::bench
