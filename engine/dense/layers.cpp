#include "engine/dense/layers.hpp"

namespace shardscope::engine {

void linear_forward(DenseMath& math, const DenseLayer& layer, const float* parameters,
                    std::int64_t samples, ConstMatrix in, Matrix out, bool relu) {
  math.multiply(Transpose::no, Transpose::yes, samples, layer.out, layer.in, in,
                {parameters + layer.weight, layer.in}, 0, out);
  math.add_bias(samples, layer.out, parameters + layer.bias, out, relu);
}

void linear_backward_parameters(DenseMath& math, const DenseLayer& layer, std::int64_t samples,
                                ConstMatrix in, ConstMatrix out_gradient, float* gradients) {
  math.multiply(Transpose::yes, Transpose::no, layer.out, layer.in, samples, out_gradient, in, 0,
                {gradients + layer.weight, layer.in});
  math.column_sums(samples, layer.out, out_gradient, gradients + layer.bias);
}

void linear_backward_input(DenseMath& math, const DenseLayer& layer, const float* parameters,
                           std::int64_t samples, ConstMatrix out_gradient, Matrix in_gradient) {
  math.multiply(Transpose::no, Transpose::no, samples, layer.in, layer.out, out_gradient,
                {parameters + layer.weight, layer.in}, 0, in_gradient);
}

}  // namespace shardscope::engine
