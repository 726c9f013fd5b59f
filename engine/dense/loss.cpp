#include "engine/dense/loss.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::engine {

double logit_loss(float logit, float label) {
  const auto z = static_cast<double>(logit);
  return std::max(z, 0.0) - z * static_cast<double>(label) + std::log1p(std::exp(-std::abs(z)));
}

double logit_loss_sum(const float* logits, const float* labels, std::int64_t samples) {
  double sum = 0;
  for (std::int64_t s = 0; s < samples; ++s) sum += logit_loss(logits[s], labels[s]);
  return sum;
}

void logit_loss_gradient(const float* logits, const float* labels, std::int64_t samples,
                         std::int64_t global_batch, float* gradient) {
  const float share = 1.0F / static_cast<float>(global_batch);
  for (std::int64_t s = 0; s < samples; ++s) {
    const float probability = 1.0F / (1.0F + std::exp(-logits[s]));
    gradient[s] = (probability - labels[s]) * share;
  }
}

}  // namespace shardscope::engine
