#pragma once
// Linear layers over row-major fp32 matrices. Zero samples are allowed everywhere.

#include <cstdint>

#include "engine/dense/dense_math.hpp"
#include "layout/dense_sizes.hpp"

namespace shardscope::engine {

/// out = in W^T + b, then max(0, .) if relu.
void linear_forward(DenseMath& math, const DenseLayer& layer, const float* parameters,
                    std::int64_t samples, ConstMatrix in, Matrix out, bool relu);

/// Gradients of W and b from the gradient of the layer's output (before any ReLU).
void linear_backward_parameters(DenseMath& math, const DenseLayer& layer, std::int64_t samples,
                                ConstMatrix in, ConstMatrix out_gradient, float* gradients);

/// Gradient of the layer's input.
void linear_backward_input(DenseMath& math, const DenseLayer& layer, const float* parameters,
                           std::int64_t samples, ConstMatrix out_gradient, Matrix in_gradient);

}  // namespace shardscope::engine
