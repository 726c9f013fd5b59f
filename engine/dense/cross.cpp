#include "engine/dense/interaction.hpp"
#include "engine/dense/layers.hpp"

namespace shardscope::engine {
namespace {

/// Input of cross layer l: x0 or the layer before.
const float* cross_input(const DenseContext& context, std::size_t l) {
  return context.activation(l == 0 ? context.plan.x0 : context.plan.cross_out[l - 1]);
}

}  // namespace

void cross_forward(DenseMath& math, const DenseContext& context, std::int64_t samples) {
  const DenseShape& shape = context.shape;
  const std::int64_t width = shape.input_width;
  const std::int64_t rank = shape.cross_rank;
  const float* parameters = context.buffers.parameters;
  for (std::size_t l = 0; l < shape.cross.size(); ++l) {
    const CrossLayer& layer = shape.cross[l];
    const float* x = cross_input(context, l);
    float* low = context.activation(context.plan.cross_low[l]);
    float* inner = context.activation(context.plan.cross_inner[l]);
    math.multiply(Transpose::no, Transpose::yes, samples, rank, width, {x, width},
                  {parameters + layer.down, width}, 0, {low, rank});
    math.multiply(Transpose::no, Transpose::yes, samples, width, rank, {low, rank},
                  {parameters + layer.up, rank}, 0, {inner, width});
    math.cross_combine(samples, width, parameters + layer.bias, context.activation(context.plan.x0),
                       x, inner, context.activation(context.plan.cross_out[l]));
  }
}

void cross_backward(DenseMath& math, const DenseContext& context, std::int64_t samples) {
  const DenseShape& shape = context.shape;
  const std::int64_t width = shape.input_width;
  const std::int64_t rank = shape.cross_rank;
  const float* parameters = context.buffers.parameters;
  float* gradients = context.buffers.gradients;
  float* g = context.scratch(context.plan.cross_gradient);
  float* inner_gradient = context.scratch(context.plan.ping);
  float* low_gradient = context.scratch(context.plan.cross_low_gradient);
  float* x0_gradient = context.scratch(context.plan.x0_gradient);
  const std::int64_t elements = samples * width;
  math.fill_zero(elements, x0_gradient);
  for (std::size_t l = shape.cross.size(); l-- > 0;) {
    const CrossLayer& layer = shape.cross[l];
    const float* low = context.activation(context.plan.cross_low[l]);
    math.cross_split(elements, g, context.activation(context.plan.x0),
                     context.activation(context.plan.cross_inner[l]), x0_gradient, inner_gradient);
    math.column_sums(samples, width, {inner_gradient, width}, gradients + layer.bias);
    math.multiply(Transpose::yes, Transpose::no, width, rank, samples, {inner_gradient, width},
                  {low, rank}, 0, {gradients + layer.up, rank});
    math.multiply(Transpose::no, Transpose::no, samples, rank, width, {inner_gradient, width},
                  {parameters + layer.up, rank}, 0, {low_gradient, rank});
    math.multiply(Transpose::yes, Transpose::no, rank, width, samples, {low_gradient, rank},
                  {cross_input(context, l), width}, 0, {gradients + layer.down, width});
    // The layer passes its input on unchanged besides: the gradient adds to g itself.
    math.multiply(Transpose::no, Transpose::no, samples, width, rank, {low_gradient, rank},
                  {parameters + layer.down, width}, 1, {g, width});
  }
  math.add(elements, g, x0_gradient);
}

}  // namespace shardscope::engine
