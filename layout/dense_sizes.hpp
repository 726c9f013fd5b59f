#pragma once
// Shape and buffer sizes of the dense part (bottom MLP, interaction, top MLP). The engine lays out
// its parameters and activations by these values and the memory accounting sums them.

#include <cstdint>
#include <vector>

#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// y = x W^T + b; offsets in elements into the parameter buffer, W is out x in row-major.
struct DenseLayer {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t weight = 0;
  std::int64_t bias = 0;

  friend bool operator==(const DenseLayer&, const DenseLayer&) = default;
};

/// One low-rank cross layer of DCNv2: x' = x0 * (x V^T U^T + b) + x. V is rank x width, U is
/// width x rank, b has width elements.
struct CrossLayer {
  std::int64_t down = 0;  ///< offset of V
  std::int64_t up = 0;    ///< offset of U
  std::int64_t bias = 0;

  friend bool operator==(const CrossLayer&, const CrossLayer&) = default;
};

/// Every width and parameter offset. The interaction's input x0 is the bottom MLP's output (or the
/// dense features themselves without one) followed by the embeddings of a sample.
struct DenseShape {
  bool present = false;  ///< the workload has a dense part
  Interaction interaction = Interaction::none;
  std::vector<DenseLayer> bottom;
  std::vector<CrossLayer> cross;
  std::vector<DenseLayer> top;
  std::int64_t dense_features = 0;
  std::int64_t bottom_width = 0;     ///< leading columns of x0
  std::int64_t embedding_width = 0;  ///< interaction_width(workload)
  std::int64_t input_width = 0;      ///< columns of x0
  std::int64_t cross_rank = 0;
  std::int64_t vector_width = 0;  ///< dot: width of every vector
  std::int64_t vectors = 0;       ///< dot: vectors a sample, the bottom's included
  std::int64_t top_input = 0;     ///< columns the top MLP reads
  std::int64_t parameters = 0;    ///< elements, all layers

  friend bool operator==(const DenseShape&, const DenseShape&) = default;
};

/// The shape, or what is wrong with the workload's dense part: no top MLP or one that does not end
/// in 1, a bottom MLP without dense features, unequal widths under dot, dcnv2 without rank or
/// layers, a width above 2^31 - 1.
[[nodiscard]] Result<DenseShape> dense_shape(const Workload& workload);

/// Bytes of the buffers an engine rank gives to its dense part. All zero without one.
struct DenseSizes {
  std::int64_t parameters = 0;        ///< elements: what is all-reduced, contiguous
  std::int64_t parameter_bytes = 0;   ///< fp32, padded to kDensePadding elements
  std::int64_t gradient_bytes = 0;    ///< as parameters
  std::int64_t state_bytes = 0;       ///< optimizer state
  std::int64_t activation_bytes = 0;  ///< x0 and every layer's output, kept for the backward
  std::int64_t scratch_bytes = 0;     ///< gradients of x0 and of the activations

  [[nodiscard]] std::int64_t total() const;

  friend bool operator==(const DenseSizes&, const DenseSizes&) = default;
};

/// Parameter, gradient and state buffers are padded to a multiple of this many elements.
inline constexpr std::int64_t kDensePadding = 64;

/// Where each activation stands, in elements from the start of the activation (or scratch) buffer;
/// every part starts on 64 bytes. Valid for up to `samples` samples.
struct DensePlan {
  std::int64_t samples = 0;
  std::int64_t x0 = 0;                    ///< samples x input_width
  std::vector<std::int64_t> bottom;       ///< outputs of all bottom layers but the last (in x0)
  std::vector<std::int64_t> cross_low;    ///< x V^T, samples x rank, by cross layer
  std::vector<std::int64_t> cross_inner;  ///< low U^T + b, samples x input_width
  std::vector<std::int64_t> cross_out;    ///< samples x input_width
  std::int64_t dot_out = 0;               ///< samples x top_input
  std::vector<std::int64_t> top;          ///< outputs of the top layers; the last are the logits
  std::int64_t activation_elements = 0;

  std::int64_t x0_gradient = 0;  ///< scratch: samples x input_width
  std::int64_t ping = 0;         ///< scratch: gradients of layer outputs, alternating with pong
  std::int64_t pong = 0;
  std::int64_t cross_gradient = 0;  ///< scratch, dcnv2: samples x input_width
  std::int64_t cross_low_gradient = 0;
  std::int64_t pair = 0;  ///< scratch, dot: vectors x vectors of one sample
  std::int64_t scratch_elements = 0;

  friend bool operator==(const DensePlan&, const DensePlan&) = default;
};

[[nodiscard]] DensePlan dense_plan(const DenseShape& shape, std::int64_t samples);

/// Sizes for up to `samples` samples on a rank. A dense part with a wrong shape counts as none.
[[nodiscard]] DenseSizes dense_sizes(const Workload& workload, std::int64_t samples);

}  // namespace shardscope
