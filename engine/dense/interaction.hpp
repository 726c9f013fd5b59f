#pragma once
// The interactions between the bottom MLP's output and the embeddings: pairwise dot products, and
// DCNv2's low-rank cross layers. Activations stand where layout's DensePlan says.

#include <cstdint>

#include "layout/dense_sizes.hpp"

namespace shardscope::engine {

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

/// Writes a sample's bottom output and the products of all pairs of its vectors (i > j, by i then
/// j) to the plan's dot_out.
void dot_forward(const DenseContext& context, std::int64_t samples);

/// From the gradient of dot_out (samples x top_input) to that of x0.
void dot_backward(const DenseContext& context, std::int64_t samples, const float* gradient);

/// Runs the cross layers from x0 to the last cross_out.
void cross_forward(const DenseContext& context, std::int64_t samples);

/// From the gradient of the last cross_out, which stands in the plan's cross_gradient and is used
/// up, to the gradients of the layers' parameters and of x0.
void cross_backward(const DenseContext& context, std::int64_t samples);

}  // namespace shardscope::engine
