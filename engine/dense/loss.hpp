#pragma once
// Binary cross-entropy on logits.

#include <cstdint>

namespace shardscope::engine {

/// -log of the probability that sigmoid(logit) gives to the label (0 or 1).
[[nodiscard]] double logit_loss(float logit, float label);

/// Sum of logit_loss over the samples. The loss of a batch is this over all ranks divided by the
/// global batch.
[[nodiscard]] double logit_loss_sum(const float* logits, const float* labels, std::int64_t samples);

/// gradient[s] = (sigmoid(logit) - label) / global_batch: of the mean over the global batch.
void logit_loss_gradient(const float* logits, const float* labels, std::int64_t samples,
                         std::int64_t global_batch, float* gradient);

}  // namespace shardscope::engine
