#include <algorithm>

#include "engine/dense/interaction.hpp"
#include "engine/dense/layers.hpp"

namespace shardscope::engine {

void dot_forward(const DenseContext& context, std::int64_t samples) {
  const DenseShape& shape = context.shape;
  float* pair = context.scratch(context.plan.pair);
  for (std::int64_t s = 0; s < samples; ++s) {
    // The vectors of a sample lie side by side in its row of x0.
    const float* vectors = context.activation(context.plan.x0) + s * shape.input_width;
    multiply(Transpose::no, Transpose::yes, shape.vectors, shape.vectors, shape.vector_width,
             {vectors, shape.vector_width}, {vectors, shape.vector_width}, 0,
             {pair, shape.vectors});
    float* out = context.activation(context.plan.dot_out) + s * shape.top_input;
    out = std::copy_n(vectors, shape.bottom_width, out);
    for (std::int64_t i = 1; i < shape.vectors; ++i) {
      out = std::copy_n(pair + i * shape.vectors, i, out);
    }
  }
}

void dot_backward(const DenseContext& context, std::int64_t samples, const float* gradient) {
  const DenseShape& shape = context.shape;
  float* pair = context.scratch(context.plan.pair);
  for (std::int64_t s = 0; s < samples; ++s, gradient += shape.top_input) {
    const float* products = gradient + shape.bottom_width;
    for (std::int64_t i = 0; i < shape.vectors; ++i) {
      pair[i * shape.vectors + i] = 0;
      for (std::int64_t j = 0; j < i; ++j, ++products) {
        pair[i * shape.vectors + j] = *products;
        pair[j * shape.vectors + i] = *products;
      }
    }
    const float* vectors = context.activation(context.plan.x0) + s * shape.input_width;
    float* x0_gradient = context.scratch(context.plan.x0_gradient) + s * shape.input_width;
    multiply(Transpose::no, Transpose::no, shape.vectors, shape.vector_width, shape.vectors,
             {pair, shape.vectors}, {vectors, shape.vector_width}, 0,
             {x0_gradient, shape.vector_width});
    for (std::int64_t c = 0; c < shape.bottom_width; ++c) x0_gradient[c] += gradient[c];
  }
}

}  // namespace shardscope::engine
