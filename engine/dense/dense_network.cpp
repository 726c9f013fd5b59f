#include "engine/dense/dense_network.hpp"

#include <algorithm>
#include <cmath>

#include <cblas.h>
#include <fmt/format.h>

#include "engine/cpu/rounding.hpp"
#include "engine/dense/layers.hpp"

namespace shardscope::engine {
namespace {

/// Fills a rows x columns weight matrix; `layer` numbers all matrices of the dense part.
void fill_weights(float* weights, std::int64_t rows, std::int64_t columns, std::uint64_t layer,
                  std::uint64_t seed) {
  const double limit = std::sqrt(6.0 / static_cast<double>(rows + columns));
  const std::uint64_t layer_key = mix_bits(mix_bits(seed) ^ layer);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::uint64_t row_key = mix_bits(layer_key ^ static_cast<std::uint64_t>(r));
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::uint64_t bits = mix_bits(row_key ^ static_cast<std::uint64_t>(c));
      const double unit = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
      weights[r * columns + c] = static_cast<float>(limit * unit);
    }
  }
}

std::int64_t padded_parameters(const DenseShape& shape) {
  return (shape.parameters + kDensePadding - 1) / kDensePadding * kDensePadding;
}

Status check_dense_optimizer(const Workload& workload) {
  switch (workload.dense.optimizer.kind) {
    case OptimizerKind::sgd:
    case OptimizerKind::adagrad:
    case OptimizerKind::adam:
      return {};
    case OptimizerKind::rowwise_adagrad:
    case OptimizerKind::other:
      break;
  }
  return fail({ErrorKind::usage,
               fmt::format("the dense part's optimizer {} needs rows",
                           to_string(workload.dense.optimizer.kind)),
               fmt::format("workload {}: dense.optimizer", workload.name), "sgd, adagrad or adam",
               "Choose one of them for the dense part"});
}

/// OpenBLAS built without threads hands the same work buffer to callers that come at once, and
/// their products are then wrong. Its other builds lock; they are told to use the caller's thread
/// alone.
Status prepare_blas() {
  constexpr int kSequential = 0;
  if (openblas_get_parallel() == kSequential) {
    return fail({ErrorKind::runtime,
                 "this OpenBLAS is built without threads and not safe to call from several ranks",
                 "dense part", "an OpenBLAS built with threads",
                 "Install libopenblas-pthread-dev, remove libopenblas-serial-dev and build anew"});
  }
  openblas_set_num_threads(1);
  return {};
}

}  // namespace

Result<DenseNetwork> DenseNetwork::create(const Workload& workload, std::int64_t max_samples,
                                          const DenseBuffers& buffers) {
  Result<DenseShape> shape = dense_shape(workload);
  if (!shape) return fail(shape.error());
  DenseNetwork network;
  if (!shape->present) return network;
  if (Status status = check_dense_optimizer(workload); !status) return fail(status.error());
  if (Status status = prepare_blas(); !status) return fail(status.error());
  network.context_ = {*shape, dense_plan(*shape, max_samples), buffers};
  network.optimizer_ = workload.dense.optimizer;
  return network;
}

void DenseNetwork::initialise(std::uint64_t seed) {
  if (!present()) return;
  const DenseShape& shape = context_.shape;
  const std::int64_t padded = padded_parameters(shape);
  float* parameters = context_.buffers.parameters;
  std::fill_n(parameters, padded, 0.0F);
  std::fill_n(context_.buffers.gradients, padded, 0.0F);
  std::fill_n(context_.buffers.state, padded * optimizer_.words_per_element, 0.0F);
  std::uint64_t number = 0;
  for (const auto* layers : {&shape.bottom, &shape.top}) {
    for (const DenseLayer& layer : *layers) {
      fill_weights(parameters + layer.weight, layer.out, layer.in, number++, seed);
    }
  }
  for (const CrossLayer& layer : shape.cross) {
    fill_weights(parameters + layer.down, shape.cross_rank, shape.input_width, number++, seed);
    fill_weights(parameters + layer.up, shape.input_width, shape.cross_rank, number++, seed);
  }
}

float* DenseNetwork::embeddings() const {
  return context_.activation(context_.plan.x0) + context_.shape.bottom_width;
}

const float* DenseNetwork::embedding_gradients() const {
  return context_.scratch(context_.plan.x0_gradient) + context_.shape.bottom_width;
}

const float* DenseNetwork::logits() const {
  return context_.activation(context_.plan.top.back());
}

void DenseNetwork::loss_sum(DenseMath& math, const float* labels, std::int64_t samples,
                            double* sum) const {
  math.loss_sum(logits(), labels, samples, sum);
}

Matrix DenseNetwork::x0_columns() const {
  return {context_.activation(context_.plan.x0), context_.shape.input_width};
}

Matrix DenseNetwork::bottom_output(std::size_t layer) const {
  // The last layer writes its columns of x0 directly.
  if (layer + 1 == context_.shape.bottom.size()) return x0_columns();
  return {context_.activation(context_.plan.bottom[layer]), context_.shape.bottom[layer].out};
}

Matrix DenseNetwork::top_output(std::size_t layer) const {
  return {context_.activation(context_.plan.top[layer]), context_.shape.top[layer].out};
}

Matrix DenseNetwork::top_input() const {
  const DensePlan& plan = context_.plan;
  switch (context_.shape.interaction) {
    case Interaction::dot:
      return {context_.activation(plan.dot_out), context_.shape.top_input};
    case Interaction::dcnv2:
      return {context_.activation(plan.cross_out.back()), context_.shape.top_input};
    case Interaction::concat:
    case Interaction::none:
      break;
  }
  return x0_columns();
}

Matrix DenseNetwork::top_input_gradient() const {
  const DensePlan& plan = context_.plan;
  const std::int64_t width = context_.shape.top_input;
  switch (context_.shape.interaction) {
    case Interaction::dot:
      return {context_.scratch(plan.ping), width};
    case Interaction::dcnv2:
      return {context_.scratch(plan.cross_gradient), width};
    case Interaction::concat:
    case Interaction::none:
      break;
  }
  return {context_.scratch(plan.x0_gradient), width};
}

void DenseNetwork::forward_bottom(DenseMath& math, const float* dense, std::int64_t samples) {
  if (!present()) return;
  const DenseShape& shape = context_.shape;
  if (shape.bottom.empty()) {
    math.copy_rows(samples, shape.bottom_width, {dense, shape.bottom_width}, x0_columns());
    return;
  }
  ConstMatrix in{dense, shape.dense_features};
  for (std::size_t l = 0; l < shape.bottom.size(); ++l) {
    const Matrix out = bottom_output(l);
    linear_forward(math, shape.bottom[l], context_.buffers.parameters, samples, in, out, true);
    in = out;
  }
}

void DenseNetwork::forward_top(DenseMath& math, std::int64_t samples) {
  if (!present()) return;
  const DenseShape& shape = context_.shape;
  if (shape.interaction == Interaction::dot) math.dot_forward(context_, samples);
  if (shape.interaction == Interaction::dcnv2) cross_forward(math, context_, samples);
  ConstMatrix in = top_input();
  for (std::size_t l = 0; l < shape.top.size(); ++l) {
    const Matrix out = top_output(l);
    linear_forward(math, shape.top[l], context_.buffers.parameters, samples, in, out,
                   l + 1 < shape.top.size());
    in = out;
  }
}

void DenseNetwork::backward_top(DenseMath& math, const float* labels, std::int64_t samples,
                                std::int64_t global_batch) {
  if (!present()) return;
  const DenseShape& shape = context_.shape;
  const DensePlan& plan = context_.plan;
  // Gradients of layer outputs alternate between two buffers so that layer 0's stands in pong.
  const auto output_gradient = [&](std::size_t l) {
    return Matrix{context_.scratch(l % 2 == 0 ? plan.pong : plan.ping), shape.top[l].out};
  };
  Matrix gradient = output_gradient(shape.top.size() - 1);
  math.loss_gradient(logits(), labels, samples, global_batch, gradient.data);
  for (std::size_t l = shape.top.size(); l-- > 0;) {
    const DenseLayer& layer = shape.top[l];
    const Matrix in = l == 0 ? top_input() : top_output(l - 1);
    const Matrix next = l == 0 ? top_input_gradient() : output_gradient(l - 1);
    linear_backward_parameters(math, layer, samples, in, gradient, context_.buffers.gradients);
    linear_backward_input(math, layer, context_.buffers.parameters, samples, gradient, next);
    if (l > 0) math.relu_backward(samples, layer.in, in, next);
    gradient = next;
  }
  if (shape.interaction == Interaction::dot) math.dot_backward(context_, samples, gradient.data);
  if (shape.interaction == Interaction::dcnv2) cross_backward(math, context_, samples);
}

void DenseNetwork::backward_bottom(DenseMath& math, const float* dense, std::int64_t samples) {
  if (!present()) return;
  const DenseShape& shape = context_.shape;
  const DensePlan& plan = context_.plan;
  Matrix gradient{context_.scratch(plan.x0_gradient), shape.input_width};
  bool ping = true;
  for (std::size_t l = shape.bottom.size(); l-- > 0;) {
    const DenseLayer& layer = shape.bottom[l];
    math.relu_backward(samples, layer.out, bottom_output(l), gradient);
    const ConstMatrix in = l == 0 ? ConstMatrix(dense, shape.dense_features) : bottom_output(l - 1);
    linear_backward_parameters(math, layer, samples, in, gradient, context_.buffers.gradients);
    if (l == 0) return;
    const Matrix next{context_.scratch(ping ? plan.ping : plan.pong), layer.in};
    linear_backward_input(math, layer, context_.buffers.parameters, samples, gradient, next);
    gradient = next;
    ping = !ping;
  }
}

void DenseNetwork::update(DenseMath& math, std::int64_t step) {
  if (!present()) return;
  // The parameters as rows of one padding unit each: every optimizer here is elementwise.
  const std::int64_t rows = padded_parameters(context_.shape) / kDensePadding;
  OptimizerUpdate call;
  call.optimizer = optimizer_;
  call.gradients = context_.buffers.gradients;
  call.rows = context_.buffers.parameters;
  call.width = static_cast<std::int32_t>(kDensePadding);
  call.full_width = call.width;
  call.state = context_.buffers.state;
  call.row_count = rows;
  call.step = step;
  math.update(call);
}

}  // namespace shardscope::engine
