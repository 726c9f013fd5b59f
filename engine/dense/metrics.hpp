#pragma once
// How good predictions are on an evaluation split.

#include <span>

namespace shardscope::engine {

/// Mean binary cross-entropy of the logits; 0 without samples.
[[nodiscard]] double mean_log_loss(std::span<const float> logits, std::span<const float> labels);

/// Area under the ROC curve, exact: the probability that a positive sample (label 1) scores above a
/// negative one, ties counting one half. NaN where one of the classes is absent. O(n log n).
[[nodiscard]] double exact_auc(std::span<const float> scores, std::span<const float> labels);

}  // namespace shardscope::engine
