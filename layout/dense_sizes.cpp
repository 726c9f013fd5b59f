#include "layout/dense_sizes.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "layout/memory.hpp"

namespace shardscope {
namespace {

constexpr std::int64_t kWidestLayer = std::numeric_limits<std::int32_t>::max();

Error dense_error(const Workload& workload, std::string what, std::string expected,
                  std::string cure) {
  return {ErrorKind::usage, std::move(what), fmt::format("workload {}: dense", workload.name),
          std::move(expected), std::move(cure)};
}

/// Appends a chain of layers reading `width` columns; returns the width of the last.
std::int64_t append_layers(std::vector<DenseLayer>& layers, std::int64_t width,
                           const std::vector<std::int32_t>& outputs, std::int64_t& parameters) {
  for (const std::int32_t out : outputs) {
    DenseLayer layer{width, out, parameters, 0};
    layer.bias = saturating_add(layer.weight, saturating_multiply(width, out));
    parameters = saturating_add(layer.bias, out);
    layers.push_back(layer);
    width = out;
  }
  return width;
}

Status dot_vectors(const Workload& workload, DenseShape& shape) {
  shape.vector_width = shape.bottom_width;
  for (const Feature& feature : workload.features) {
    const std::int64_t dim = workload.tables[static_cast<std::size_t>(feature.table)].dim;
    if (shape.vector_width == 0) shape.vector_width = dim;
    if (dim != shape.vector_width) {
      return fail(dense_error(
          workload,
          fmt::format("feature {} has {} columns, other inputs of the dot interaction {}",
                      feature.name, dim, shape.vector_width),
          "equal widths of the bottom MLP's output and of all embeddings",
          "Use the interaction concat or dcnv2, or give every table the same dim"));
    }
  }
  if (shape.vector_width == 0) {
    return fail(dense_error(workload, "the dot interaction has no inputs", "at least one feature",
                            "Add features or choose the interaction concat"));
  }
  shape.vectors = shape.input_width / shape.vector_width;
  return {};
}

Status check_widths(const Workload& workload) {
  const DensePart& dense = workload.dense;
  if (dense.top_mlp.empty() || dense.top_mlp.back() != 1) {
    return fail(dense_error(workload, "the top MLP does not end in one logit",
                            "top_mlp whose last width is 1", "Append 1 to top_mlp"));
  }
  if (dense.dense_features < 0 || (dense.dense_features == 0 && !dense.bottom_mlp.empty())) {
    return fail(dense_error(workload, "the bottom MLP has no dense features to read",
                            "dense_features >= 1", "Set dense_features or drop bottom_mlp"));
  }
  for (const auto* widths : {&dense.bottom_mlp, &dense.top_mlp}) {
    if (std::any_of(widths->begin(), widths->end(), [](std::int32_t w) { return w < 1; })) {
      return fail(dense_error(workload, "a layer has no columns", "layer widths >= 1",
                              "Correct the widths of bottom_mlp and top_mlp"));
    }
  }
  if (dense.interaction == Interaction::dcnv2 && (dense.cross_layers < 1 || dense.cross_rank < 1)) {
    return fail(dense_error(workload, "dcnv2 has no cross layers",
                            "cross_layers >= 1 and cross_rank >= 1",
                            "Set both or choose the interaction concat"));
  }
  return {};
}

void append_cross_layers(const DensePart& dense, DenseShape& shape) {
  shape.cross_rank = dense.cross_rank;
  const std::int64_t factor = saturating_multiply(shape.input_width, shape.cross_rank);
  for (std::int32_t l = 0; l < dense.cross_layers; ++l) {
    CrossLayer layer{shape.parameters, 0, 0};
    layer.up = saturating_add(layer.down, factor);
    layer.bias = saturating_add(layer.up, factor);
    shape.parameters = saturating_add(layer.bias, shape.input_width);
    shape.cross.push_back(layer);
  }
}

/// Hands out consecutive 64-byte aligned parts of a buffer of fp32.
class PartCounter {
 public:
  std::int64_t take(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t kElements = 16;
    const std::int64_t at = used_;
    const std::int64_t size = saturating_multiply(rows, columns);
    used_ = saturating_add(used_, saturating_add(size, (kElements - size % kElements) % kElements));
    return at;
  }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::int64_t used_ = 0;
};

}  // namespace

Result<DenseShape> dense_shape(const Workload& workload) {
  const DensePart& dense = workload.dense;
  DenseShape shape;
  if (dense.interaction == Interaction::none) return shape;
  if (Status status = check_widths(workload); !status) return fail(status.error());
  shape.present = true;
  shape.interaction = dense.interaction;
  shape.dense_features = dense.dense_features;
  shape.bottom_width =
      append_layers(shape.bottom, dense.dense_features, dense.bottom_mlp, shape.parameters);
  shape.embedding_width = interaction_width(workload);
  shape.input_width = saturating_add(shape.bottom_width, shape.embedding_width);
  shape.top_input = shape.input_width;
  if (dense.interaction == Interaction::dot) {
    if (Status status = dot_vectors(workload, shape); !status) return fail(status.error());
    shape.top_input = saturating_add(shape.bottom_width,
                                     saturating_multiply(shape.vectors, shape.vectors - 1) / 2);
  } else if (dense.interaction == Interaction::dcnv2) {
    append_cross_layers(dense, shape);
  }
  if (shape.top_input < 1 || shape.top_input > kWidestLayer || shape.input_width > kWidestLayer) {
    return fail(dense_error(workload, fmt::format("the top MLP reads {} columns", shape.top_input),
                            fmt::format("1 to {} columns", kWidestLayer),
                            "Use fewer or narrower features"));
  }
  append_layers(shape.top, shape.top_input, dense.top_mlp, shape.parameters);
  return shape;
}

DensePlan dense_plan(const DenseShape& shape, std::int64_t samples) {
  DensePlan plan;
  plan.samples = samples;
  if (!shape.present) return plan;
  PartCounter kept;
  plan.x0 = kept.take(samples, shape.input_width);
  for (std::size_t l = 0; l + 1 < shape.bottom.size(); ++l) {
    plan.bottom.push_back(kept.take(samples, shape.bottom[l].out));
  }
  for (std::size_t l = 0; l < shape.cross.size(); ++l) {
    plan.cross_low.push_back(kept.take(samples, shape.cross_rank));
    plan.cross_inner.push_back(kept.take(samples, shape.input_width));
    plan.cross_out.push_back(kept.take(samples, shape.input_width));
  }
  const bool dot = shape.interaction == Interaction::dot;
  plan.dot_out = kept.take(dot ? samples : 0, shape.top_input);
  for (const DenseLayer& layer : shape.top) plan.top.push_back(kept.take(samples, layer.out));
  plan.activation_elements = kept.used();

  PartCounter scratch;
  plan.x0_gradient = scratch.take(samples, shape.input_width);
  std::int64_t widest = 0;
  for (const DenseLayer& layer : shape.bottom) widest = std::max(widest, layer.out);
  for (const DenseLayer& layer : shape.top) widest = std::max(widest, layer.out);
  const bool cross = shape.interaction == Interaction::dcnv2;
  // A concat's top MLP writes its input gradient straight into x0's; the others pass through ping.
  plan.ping = scratch.take(samples, cross || dot ? std::max(widest, shape.top_input) : widest);
  plan.pong = scratch.take(samples, widest);
  plan.cross_gradient = scratch.take(cross ? samples : 0, shape.input_width);
  plan.cross_low_gradient = scratch.take(cross ? samples : 0, shape.cross_rank);
  plan.pair = scratch.take(dot ? shape.vectors : 0, shape.vectors);
  plan.scratch_elements = scratch.used();
  return plan;
}

std::int64_t DenseSizes::total() const {
  std::int64_t sum = 0;
  for (const std::int64_t bytes :
       {parameter_bytes, gradient_bytes, state_bytes, activation_bytes, scratch_bytes}) {
    sum = saturating_add(sum, bytes);
  }
  return sum;
}

DenseSizes dense_sizes(const Workload& workload, std::int64_t samples) {
  const Result<DenseShape> shape = dense_shape(workload);
  if (!shape || !shape->present) return {};
  const DensePlan plan = dense_plan(*shape, samples);
  DenseSizes sizes;
  sizes.parameters = shape->parameters;
  const std::int64_t blocks = saturating_add(shape->parameters, kDensePadding - 1) / kDensePadding;
  sizes.parameter_bytes = saturating_multiply(blocks, kDensePadding * 4);
  sizes.gradient_bytes = sizes.parameter_bytes;
  sizes.state_bytes =
      saturating_multiply(sizes.parameter_bytes, workload.dense.optimizer.words_per_element);
  sizes.activation_bytes = saturating_multiply(plan.activation_elements, 4);
  sizes.scratch_bytes = saturating_multiply(plan.scratch_elements, 4);
  return sizes;
}

}  // namespace shardscope
