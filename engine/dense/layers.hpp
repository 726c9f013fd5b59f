#pragma once
// Linear layers over row-major fp32 matrices, through a BLAS that runs on the calling thread. No
// allocation. Leading dimensions and widths are in elements; zero samples are allowed everywhere.

#include <cstdint>

#include "layout/dense_sizes.hpp"

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

/// c = op(a) op(b) + beta c, c is m x n, the inner dimension k.
void multiply(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n, std::int64_t k,
              ConstMatrix a, ConstMatrix b, float beta, Matrix c);

/// out = in W^T + b, then max(0, .) if relu.
void linear_forward(const DenseLayer& layer, const float* parameters, std::int64_t samples,
                    ConstMatrix in, Matrix out, bool relu);

/// Gradients of W and b from the gradient of the layer's output (before any ReLU).
void linear_backward_parameters(const DenseLayer& layer, std::int64_t samples, ConstMatrix in,
                                ConstMatrix out_gradient, float* gradients);

/// Gradient of the layer's input.
void linear_backward_input(const DenseLayer& layer, const float* parameters, std::int64_t samples,
                           ConstMatrix out_gradient, Matrix in_gradient);

/// Zeroes the gradient where the ReLU's output is not positive.
void relu_backward(std::int64_t samples, std::int64_t width, ConstMatrix output, Matrix gradient);

/// sums[c] = sum of column c.
void column_sums(std::int64_t samples, std::int64_t width, ConstMatrix values, float* sums);

}  // namespace shardscope::engine
