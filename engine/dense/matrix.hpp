#pragma once
// Views of row-major fp32 matrices.

#include <cstdint>

namespace shardscope::engine {

/// samples x columns of a buffer whose rows are `stride` elements apart.
struct Matrix {
  float* data = nullptr;
  std::int64_t stride = 0;
};
struct ConstMatrix {
  const float* data = nullptr;
  std::int64_t stride = 0;

  ConstMatrix() = default;
  ConstMatrix(const float* values, std::int64_t step) : data(values), stride(step) {}
  ConstMatrix(Matrix matrix)  // NOLINT(google-explicit-constructor): a view of a view
      : data(matrix.data), stride(matrix.stride) {}
};

enum class Transpose : std::uint8_t { no, yes };

}  // namespace shardscope::engine
