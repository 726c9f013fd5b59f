#include "tests/engine/dense/dense_cases.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "layout/invariant.hpp"

namespace shardscope::engine::testing {

Workload dense_workload(Interaction interaction) {
  Workload workload;
  workload.name = "small";
  for (const char* name : {"a", "b", "c"}) {
    workload.tables.push_back({.name = name, .rows = 10, .dim = 6});
  }
  workload.features = {
      {.name = "sum", .table = 0, .pooling = Pooling::sum, .hotness = Hotness::fixed(3)},
      {.name = "twice", .table = 1, .pooling = Pooling::mean, .num_poolings = 2},
      {.name = "wide", .table = 1, .pooling = Pooling::concat, .hotness = Hotness::fixed(2)},
      {.name = "jagged", .table = 2, .pooling = Pooling::sequence}};
  workload.global_batch = 16;
  workload.dense.dense_features = 5;
  workload.dense.bottom_mlp = {9, 7, 6};
  workload.dense.interaction = interaction;
  if (interaction == Interaction::dcnv2) {
    workload.dense.cross_layers = 3;
    workload.dense.cross_rank = 4;
  }
  workload.dense.top_mlp = {11, 8, 1};
  workload.dense.optimizer = make_optimizer(OptimizerKind::sgd, 0.1);
  return workload;
}

OwnedNetwork::OwnedNetwork(const Workload& workload, std::int64_t max_samples) {
  const DenseSizes sizes = dense_sizes(workload, max_samples);
  const auto take = [](std::vector<float>& buffer, std::int64_t bytes) {
    buffer.assign(static_cast<std::size_t>(bytes / 4), std::numeric_limits<float>::quiet_NaN());
    return buffer.data();
  };
  DenseBuffers buffers;
  buffers.parameters = take(parameters_, sizes.parameter_bytes);
  buffers.gradients = take(gradients_, sizes.gradient_bytes);
  buffers.state = take(state_, sizes.state_bytes);
  buffers.activations = take(activations_, sizes.activation_bytes);
  buffers.scratch = take(scratch_, sizes.scratch_bytes);
  auto network = DenseNetwork::create(workload, max_samples, buffers);
  SHARDSCOPE_CHECK(network.has_value(), "the test's workload is valid");
  network_ = *network;
  network_.initialise(1);
}

DenseBatch::DenseBatch(const Workload& workload, std::int64_t count, std::uint64_t seed)
    : samples(count) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> real(-1, 1);
  const auto fill = [&](std::vector<float>& values, std::int64_t width) {
    values.resize(static_cast<std::size_t>(count * width));
    for (float& value : values) value = real(generator);
  };
  fill(dense, workload.dense.dense_features);
  fill(embeddings, interaction_width(workload));
  fill(labels, 1);
  for (float& label : labels) label = label > 0 ? 1 : 0;
}

DenseBatch part_of(const Workload& workload, const DenseBatch& batch, std::int64_t first,
                   std::int64_t count) {
  DenseBatch part(workload, 0, 0);
  part.samples = count;
  const auto cut = [&](const std::vector<float>& all, std::int64_t width) {
    return std::vector<float>(all.begin() + first * width, all.begin() + (first + count) * width);
  };
  part.dense = cut(batch.dense, workload.dense.dense_features);
  part.embeddings = cut(batch.embeddings, interaction_width(workload));
  part.labels = cut(batch.labels, 1);
  return part;
}

void run_step(DenseNetwork& network, const DenseBatch& batch, std::int64_t global_batch) {
  const std::int64_t width =
      batch.samples == 0 ? 0 : static_cast<std::int64_t>(batch.embeddings.size()) / batch.samples;
  for (std::int64_t s = 0; s < batch.samples; ++s) {
    std::copy_n(batch.embeddings.data() + s * width, width,
                network.embeddings() + s * network.input_stride());
  }
  network.forward_bottom(cpu_dense_math(), batch.dense.data(), batch.samples);
  network.forward_top(cpu_dense_math(), batch.samples);
  network.backward_top(cpu_dense_math(), batch.labels.data(), batch.samples, global_batch);
  network.backward_bottom(cpu_dense_math(), batch.dense.data(), batch.samples);
}

DenseReference::DenseReference(const Workload& workload) : shape_(*dense_shape(workload)) {}

std::vector<double> DenseReference::layer(const std::vector<double>& parameters,
                                          const DenseLayer& layer, const std::vector<double>& in,
                                          bool relu) const {
  std::vector<double> out;
  for (std::int64_t o = 0; o < layer.out; ++o) {
    double sum = parameters[static_cast<std::size_t>(layer.bias + o)];
    for (std::int64_t i = 0; i < layer.in; ++i) {
      sum += parameters[static_cast<std::size_t>(layer.weight + o * layer.in + i)] *
             in[static_cast<std::size_t>(i)];
    }
    out.push_back(relu ? std::max(sum, 0.0) : sum);
  }
  return out;
}

double DenseReference::logit(const std::vector<double>& parameters,
                             const std::vector<double>& dense,
                             const std::vector<double>& embeddings) const {
  std::vector<double> bottom = dense;
  for (const DenseLayer& l : shape_.bottom) bottom = layer(parameters, l, bottom, true);
  std::vector<double> x0 = bottom;
  x0.insert(x0.end(), embeddings.begin(), embeddings.end());

  std::vector<double> x = x0;
  if (shape_.interaction == Interaction::dot) {
    x = bottom;
    for (std::int64_t i = 1; i < shape_.vectors; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        double product = 0;
        for (std::int64_t c = 0; c < shape_.vector_width; ++c) {
          product += x0[static_cast<std::size_t>(i * shape_.vector_width + c)] *
                     x0[static_cast<std::size_t>(j * shape_.vector_width + c)];
        }
        x.push_back(product);
      }
    }
  }
  for (const CrossLayer& cross : shape_.cross) {
    std::vector<double> low;
    for (std::int64_t r = 0; r < shape_.cross_rank; ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        sum += parameters[static_cast<std::size_t>(cross.down + r * shape_.input_width) + i] * x[i];
      }
      low.push_back(sum);
    }
    const DenseLayer up{shape_.cross_rank, shape_.input_width, cross.up, cross.bias};
    const std::vector<double> inner = layer(parameters, up, low, false);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += x0[i] * inner[i];
  }
  for (std::size_t l = 0; l < shape_.top.size(); ++l) {
    x = layer(parameters, shape_.top[l], x, l + 1 < shape_.top.size());
  }
  return x[0];
}

}  // namespace shardscope::engine::testing
