#pragma once
// What the layers of the dense part work on, and DCNv2's low-rank cross layers. Activations stand
// where layout's DensePlan says.

#include <cstdint>

#include "layout/dense_sizes.hpp"

namespace shardscope::engine {

class DenseMath;

/// Buffers of one dense part: caller-owned, laid out by DenseShape (parameters, gradients) and
/// DensePlan (activations, scratch), 64-byte aligned.
struct DenseBuffers {
  float* parameters = nullptr;
  float* gradients = nullptr;  ///< as parameters
  float* state = nullptr;      ///< optimizer words, word-major; null where it has none
  float* activations = nullptr;
  float* scratch = nullptr;
};

/// What every step of the dense part works on.
struct DenseContext {
  DenseShape shape;
  DensePlan plan;
  DenseBuffers buffers;

  [[nodiscard]] float* activation(std::int64_t offset) const {
    return buffers.activations + offset;
  }
  [[nodiscard]] float* scratch(std::int64_t offset) const { return buffers.scratch + offset; }
};

/// Runs the cross layers from x0 to the last cross_out.
void cross_forward(DenseMath& math, const DenseContext& context, std::int64_t samples);

/// From the gradient of the last cross_out, which stands in the plan's cross_gradient and is used
/// up, to the gradients of the layers' parameters and of x0.
void cross_backward(DenseMath& math, const DenseContext& context, std::int64_t samples);

}  // namespace shardscope::engine
