#include "engine/dense/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "engine/dense/loss.hpp"

namespace shardscope::engine {

double mean_log_loss(std::span<const float> logits, std::span<const float> labels) {
  if (logits.empty()) return 0;
  const auto count = static_cast<std::int64_t>(logits.size());
  return logit_loss_sum(logits.data(), labels.data(), count) / static_cast<double>(count);
}

double exact_auc(std::span<const float> scores, std::span<const float> labels) {
  std::vector<std::pair<float, bool>> samples(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) samples[i] = {scores[i], labels[i] > 0.5F};
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  // Twice the won pairs, so that ties stay whole numbers.
  double doubled_wins = 0;
  double negatives_below = 0;
  double positives_in_all = 0;
  for (std::size_t begin = 0; begin < samples.size();) {
    double positives = 0;
    double negatives = 0;
    std::size_t end = begin;
    for (; end < samples.size() && samples[end].first == samples[begin].first; ++end) {
      (samples[end].second ? positives : negatives) += 1;
    }
    if (end == begin) return std::numeric_limits<double>::quiet_NaN();  // a score is NaN
    doubled_wins += positives * (2 * negatives_below + negatives);
    negatives_below += negatives;
    positives_in_all += positives;
    begin = end;
  }
  const double pairs = positives_in_all * negatives_below;
  return pairs == 0 ? std::numeric_limits<double>::quiet_NaN() : doubled_wins / (2 * pairs);
}

}  // namespace shardscope::engine
