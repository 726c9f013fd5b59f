#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/rounding.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
namespace {

/// Constants of one call in fp32.
struct UpdateTerms {
  explicit UpdateTerms(const OptimizerUpdate& call)
      : rate(static_cast<float>(call.optimizer.learning_rate)),
        epsilon(static_cast<float>(call.optimizer.epsilon)),
        beta1(static_cast<float>(call.optimizer.beta1)),
        beta2(static_cast<float>(call.optimizer.beta2)),
        correction1(static_cast<float>(
            1 / (1 - std::pow(call.optimizer.beta1, static_cast<double>(call.step))))),
        correction2(static_cast<float>(
            1 / (1 - std::pow(call.optimizer.beta2, static_cast<double>(call.step))))) {}
  float rate, epsilon, beta1, beta2, correction1, correction2;
};

/// What is subtracted from element `at` of the shard, after its state has moved.
float optimizer_step(const OptimizerUpdate& call, const UpdateTerms& terms, float g,
                     std::int64_t at, float row_state) {
  switch (call.optimizer.kind) {
    case OptimizerKind::adagrad: {
      float& state = call.state[at];
      state += g * g;
      return terms.rate * g / (std::sqrt(state) + terms.epsilon);
    }
    case OptimizerKind::rowwise_adagrad:
      return terms.rate * g / (std::sqrt(row_state) + terms.epsilon);
    case OptimizerKind::adam: {
      float& m = call.state[at];
      float& v = call.state[call.row_count * call.width + at];
      m = terms.beta1 * m + (1 - terms.beta1) * g;
      v = terms.beta2 * v + (1 - terms.beta2) * (g * g);
      return terms.rate * (m * terms.correction1) /
             (std::sqrt(v * terms.correction2) + terms.epsilon);
    }
    default:
      return terms.rate * g;
  }
}

template <class Row>
Row rounded(float value, std::uint64_t key, std::uint32_t column) {
  if constexpr (std::is_same_v<Row, float>) return value;
  const std::uint32_t bits = rounding_bits(key, column);
  if constexpr (std::is_same_v<Row, Fp16>) return {stochastic_fp16(value, bits)};
  if constexpr (std::is_same_v<Row, Bf16>) return {stochastic_bf16(value, bits)};
}

template <class Row>
void update_rows(const OptimizerUpdate& call) {
  const UpdateTerms terms(call);
  Row* rows = static_cast<Row*>(call.rows);
  const std::int64_t unique = *call.unique_count;
  for (std::int64_t u = 0; u < unique; ++u) {
    const std::int64_t row = call.unique_rows != nullptr ? call.unique_rows[u] : u;
    float row_state = 0;
    if (call.optimizer.kind == OptimizerKind::rowwise_adagrad) {
      row_state = call.state[row] += call.row_square_sum[u] / static_cast<float>(call.full_width);
    }
    const std::uint64_t key =
        rounding_key(call.seed, call.table, row * call.row_scale + call.row_base, call.step);
    for (std::int32_t c = 0; c < call.width; ++c) {
      const std::int64_t at = row * call.width + c;
      const float step =
          optimizer_step(call, terms, call.gradients[u * call.width + c], at, row_state);
      rows[at] = rounded<Row>(to_float(rows[at]) - step, key,
                              static_cast<std::uint32_t>(call.first_column + c));
    }
  }
}

}  // namespace

void optimizer_update(const OptimizerUpdate& call) {
  with_value_type(call.row_type, [&](auto row) { update_rows<decltype(row)>(call); });
}

}  // namespace shardscope::engine
