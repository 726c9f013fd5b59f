#pragma once
// Optimizer steps of the listed rows, by the formulas of OptimizerUpdate. Sixteen-bit rows are
// rounded stochastically from (seed, table, row, column, step).

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// A call with its constants in fp32.
struct UpdateCall {
  OptimizerUpdate call;
  float rate = 0, epsilon = 0, beta1 = 0, beta2 = 0;
  float gain1 = 0, gain2 = 0;  ///< 1 - beta
  float full_width = 1;
  float correction1 = 1, correction2 = 1;  ///< adam: 1 / (1 - beta^step)
};

SHARDSCOPE_DEVICE std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

/// Key of one row's update: that of engine/cpu/rounding.hpp.
SHARDSCOPE_DEVICE std::uint64_t row_key(const OptimizerUpdate& call, std::int64_t row) {
  const std::int64_t table_row = row * call.row_scale + call.row_base;
  std::uint64_t key = mixed_bits(call.seed + 0x9e3779b97f4a7c15U);
  key = mixed_bits(key ^ static_cast<std::uint32_t>(call.table));
  key = mixed_bits(key ^ static_cast<std::uint64_t>(table_row));
  return mixed_bits(key ^ static_cast<std::uint64_t>(call.step));
}

SHARDSCOPE_DEVICE std::uint32_t column_bits(std::uint64_t key, std::uint32_t column) {
  std::uint32_t x = static_cast<std::uint32_t>(key) ^ (column * 0x9e3779b9U);
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) + static_cast<std::uint32_t>(key >> 32);
  x = x * 0x846ca68bU;
  return x ^ (x >> 16);
}

SHARDSCOPE_DEVICE void store_rounded(float* to, float value, std::uint64_t, std::uint32_t) {
  *to = value;
}

SHARDSCOPE_DEVICE void store_rounded(Bf16* to, float value, std::uint64_t key,
                                     std::uint32_t column) {
  const std::uint32_t bits = float_to_bits(value);
  if ((bits & 0x7f800000U) == 0x7f800000U) return store_value(to, value);
  to->bits = static_cast<std::uint16_t>((bits + (column_bits(key, column) >> 16)) >> 16);
}

SHARDSCOPE_DEVICE void store_rounded(Fp16* to, float value, std::uint64_t key,
                                     std::uint32_t column) {
  const std::uint32_t bits = float_to_bits(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x47800000U) return store_value(to, value);
  const std::uint32_t random = column_bits(key, column);
  if (magnitude >= 0x38800000U) {  // 2^-14 and up
    return store_value(to, bits_to_float((bits + (random >> 19)) & ~0x1fffU));
  }
  // Below, neighbours are 2^-24 apart: compare the fraction with 24 random bits.
  const float units = bits_to_float(magnitude) * 0x1p24F;
  const float whole = round_down(units);
  const float threshold = static_cast<float>(random >> 8) * 0x1p-24F;
  const auto half = static_cast<std::uint32_t>(whole) + (units - whole > threshold ? 1U : 0U);
  to->bits = static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U));
}

/// What a weight loses, and its new state. `divisor` is rowwise adagrad's.
SHARDSCOPE_DEVICE float weight_step(const UpdateCall& update, std::int64_t element, float gradient,
                                    float divisor) {
  const OptimizerUpdate& call = update.call;
  const float scaled = update.rate * gradient;
  switch (call.optimizer.kind) {
    case OptimizerKind::adagrad: {
      const float state = call.state[element] + gradient * gradient;
      call.state[element] = state;
      return scaled / (square_root(state) + update.epsilon);
    }
    case OptimizerKind::rowwise_adagrad:
      return scaled / divisor;
    case OptimizerKind::adam: {
      float* second = call.state + call.row_count * call.width;
      const float m = update.beta1 * call.state[element] + update.gain1 * gradient;
      const float v = update.beta2 * second[element] + update.gain2 * (gradient * gradient);
      call.state[element] = m;
      second[element] = v;
      const float deviation = square_root(v * update.correction2);
      return update.rate * (m * update.correction1) / (deviation + update.epsilon);
    }
    case OptimizerKind::sgd:
    case OptimizerKind::other:
      break;
  }
  return scaled;
}

template <class Row>
SHARDSCOPE_DEVICE void update_rows(const UpdateCall& update) {
  const OptimizerUpdate& call = update.call;
  const std::int64_t unique_count = *call.unique_count;
  const RowGroup group = row_group(call.width, 1);
  const bool row_state = call.optimizer.kind == OptimizerKind::rowwise_adagrad;
  // All lanes of a warp take part in its shuffles as long as one of its rows is left.
  const std::int64_t groups_a_warp = 32 / group.lanes;
  for (std::int64_t at = group.first; at / groups_a_warp * groups_a_warp < unique_count;
       at += group.step) {
    const bool active = at < unique_count;
    const std::int64_t row = !active ? 0 : call.unique_rows != nullptr ? call.unique_rows[at] : at;
    float divisor = 1;
    if (row_state) {
      float state = 0;
      if (active && group.lane == 0) {
        state = call.state[row] + call.row_square_sum[at] / update.full_width;
        call.state[row] = state;
      }
      divisor = square_root(shuffle(state, 0, group.lanes)) + update.epsilon;
    }
    if (!active) continue;
    const std::uint64_t key = sizeof(Row) == 2 ? row_key(call, row) : 0;
    Row* weights = static_cast<Row*>(call.rows) + row * call.width;
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      const float step =
          weight_step(update, row * call.width + c, call.gradients[at * call.width + c], divisor);
      store_rounded(weights + c, row_value(weights[c]) - step, key,
                    static_cast<std::uint32_t>(call.first_column + c));
    }
  }
}

SHARDSCOPE_KERNEL void optimizer_update_kernel(const UpdateCall* calls) {
  const UpdateCall& update = calls[block_y()];
  with_row_type(update.call.row_type,
                [&](auto row) SHARDSCOPE_INLINE { update_rows<decltype(row)>(update); });
}

}  // namespace shardscope::engine::cuda
