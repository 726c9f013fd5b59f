#pragma once
// A weighted sum of scattered rows: the inner loop that pooling and gradient reduction share.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// Rows in the order of an index list, as the cpu kernels see them.
template <class Row>
struct ScatteredRows {
  const Row* rows = nullptr;
  std::int64_t stride = 0;
  const void* index = nullptr;            ///< not negative
  bool wide_index = false;                ///< 8 bytes an index, else 4
  const std::int64_t* offsets = nullptr;  ///< start of each indexed row, or null: index * stride
  const float* weights = nullptr;         ///< or null: 1

  SHARDSCOPE_DEVICE const Row* row(std::int64_t n) const {
    const std::int64_t at =
        wide_index ? static_cast<const std::int64_t*>(index)[n]
                   : static_cast<std::int64_t>(static_cast<const std::uint32_t*>(index)[n]);
    return rows + (offsets != nullptr ? offsets[at] : at * stride);
  }
  SHARDSCOPE_DEVICE float weight(std::int64_t n) const {
    return weights != nullptr ? weights[n] : 1.0F;
  }
};

/// Rows whose loads are on their way at once. They are added in order.
inline constexpr int kRowsInFlight = 4;

/// Columns [column, column + V) of rows [begin, end), added in order.
template <int V, class Row>
SHARDSCOPE_DEVICE Lane<V> sum_rows(const ScatteredRows<Row>& source, std::int64_t begin,
                                   std::int64_t end, std::int64_t column) {
  Lane<V> sum;
  SHARDSCOPE_UNROLL
  for (int k = 0; k < V; ++k) sum.v[k] = 0;
  std::int64_t n = begin;
  for (; n + kRowsInFlight <= end; n += kRowsInFlight) {
    Lane<V> values[kRowsInFlight];
    float weights[kRowsInFlight];
    SHARDSCOPE_UNROLL
    for (int r = 0; r < kRowsInFlight; ++r) {
      values[r] = load_lane<V>(source.row(n + r) + column);
      weights[r] = source.weight(n + r);
    }
    SHARDSCOPE_UNROLL
    for (int r = 0; r < kRowsInFlight; ++r) {
      SHARDSCOPE_UNROLL
      for (int k = 0; k < V; ++k) sum.v[k] += weights[r] * values[r].v[k];
    }
  }
  for (; n < end; ++n) {
    const Lane<V> value = load_lane<V>(source.row(n) + column);
    const float weight = source.weight(n);
    SHARDSCOPE_UNROLL
    for (int k = 0; k < V; ++k) sum.v[k] += weight * value.v[k];
  }
  return sum;
}

}  // namespace shardscope::engine::cuda
