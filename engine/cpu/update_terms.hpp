#pragma once
// Constants of one optimizer call in fp32, computed once in double.

#include <cmath>

#include "engine/cpu/rounding.hpp"
#include "engine/ops.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {

struct UpdateTerms {
  explicit UpdateTerms(const OptimizerUpdate& call)
      : rate(static_cast<float>(call.optimizer.learning_rate)),
        epsilon(static_cast<float>(call.optimizer.epsilon)),
        beta1(static_cast<float>(call.optimizer.beta1)),
        beta2(static_cast<float>(call.optimizer.beta2)),
        gain1(1 - beta1),
        gain2(1 - beta2),
        full_width(static_cast<float>(call.full_width)),
        table_key(table_rounding_key(call.seed, call.table)) {
    if (call.optimizer.kind != OptimizerKind::adam) return;
    const auto step = static_cast<double>(call.step);
    correction1 = static_cast<float>(1 / (1 - std::pow(call.optimizer.beta1, step)));
    correction2 = static_cast<float>(1 / (1 - std::pow(call.optimizer.beta2, step)));
  }

  float rate, epsilon, beta1, beta2;
  float gain1, gain2;  ///< 1 - beta
  float full_width;
  std::uint64_t table_key;                 ///< for the keys of stochastic rounding
  float correction1 = 1, correction2 = 1;  ///< adam: 1 / (1 - beta^step)
};

}  // namespace shardscope::engine
