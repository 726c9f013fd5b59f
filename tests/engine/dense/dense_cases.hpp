#pragma once
// A dense part on buffers of its own, and a reference of it in double written for clarity.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/dense/dense_network.hpp"
#include "layout/dense_sizes.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine::testing {

/// A small workload with that interaction: tables of 6 columns, features of every pooling.
[[nodiscard]] Workload dense_workload(Interaction interaction);

/// A DenseNetwork with the buffers it works on, filled with garbage before they are initialised.
class OwnedNetwork {
 public:
  OwnedNetwork(const Workload& workload, std::int64_t max_samples);
  DenseNetwork* operator->() { return &network_; }
  DenseNetwork& operator*() { return network_; }

 private:
  std::vector<float> parameters_, gradients_, state_, activations_, scratch_;
  DenseNetwork network_;
};

/// Inputs of some samples.
struct DenseBatch {
  DenseBatch(const Workload& workload, std::int64_t samples, std::uint64_t seed);
  std::int64_t samples;
  std::vector<float> dense, embeddings, labels;
};

/// Samples [first, first + count) of a batch.
[[nodiscard]] DenseBatch part_of(const Workload& workload, const DenseBatch& batch,
                                 std::int64_t first, std::int64_t count);

/// Writes the embeddings and runs forward and backward.
void run_step(DenseNetwork& network, const DenseBatch& batch, std::int64_t global_batch);

/// Mean loss and logits by plain loops in double over parameters in the network's order.
class DenseReference {
 public:
  explicit DenseReference(const Workload& workload);
  [[nodiscard]] double logit(const std::vector<double>& parameters,
                             const std::vector<double>& dense,
                             const std::vector<double>& embeddings) const;

 private:
  [[nodiscard]] std::vector<double> layer(const std::vector<double>& parameters,
                                          const DenseLayer& layer, const std::vector<double>& in,
                                          bool relu) const;
  DenseShape shape_;
};

}  // namespace shardscope::engine::testing
