#pragma once
// The dense part of one rank at work: bottom MLP, interaction, top MLP, loss, backward, update.
// Split so that a schedule can overlap the parts:
//
//   forward_bottom   dense inputs        -> leading columns of x0
//   (the pipeline writes the embeddings into the other columns of x0)
//   forward_top      x0                  -> logits
//   backward_top     labels              -> gradient of x0, of the top and cross parameters
//   (the pipeline reads the embeddings' gradients)
//   backward_bottom  gradient of x0      -> gradient of the bottom parameters
//   update           reduced gradients   -> parameters
//
// forward_bottom may run while the embeddings' columns are written, backward_bottom while their
// gradients are read. Everything runs where the DenseMath given to a call computes: on the calling
// thread, or behind it on the stream of a GPU. Nothing is allocated on the host. Not thread-safe;
// several objects may run at once.

#include <cstddef>
#include <cstdint>

#include "engine/dense/dense_math.hpp"
#include "engine/dense/interaction.hpp"
#include "layout/dense_sizes.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

class DenseNetwork {
 public:
  /// No dense part.
  DenseNetwork() = default;

  /// A dense part for up to `max_samples` samples on buffers of layout's dense_sizes. A workload
  /// without one gives an object that is not present(). Fails on a wrong shape or an optimizer that
  /// dense parameters cannot use (sgd, adagrad and adam can).
  [[nodiscard]] static Result<DenseNetwork> create(const Workload& workload,
                                                   std::int64_t max_samples,
                                                   const DenseBuffers& buffers);

  [[nodiscard]] bool present() const { return context_.shape.present; }

  /// Parameters from (layer, row, column, seed) alone, equal on every rank; weights uniform within
  /// +-sqrt(6 / (in + out)), biases 0. State and gradients 0.
  void initialise(std::uint64_t seed);

  /// Where the embeddings of sample s begin: embeddings() + s * input_stride(), in workload order,
  /// layout's interaction_width elements.
  [[nodiscard]] float* embeddings() const;
  /// Their gradients after backward_top, of the mean loss over the global batch.
  [[nodiscard]] const float* embedding_gradients() const;
  /// Elements from one sample to the next, of both.
  [[nodiscard]] std::int64_t input_stride() const { return context_.shape.input_width; }

  /// `dense`: samples x dense_features, kept by the caller until backward_bottom.
  void forward_bottom(DenseMath& math, const float* dense, std::int64_t samples);
  void forward_top(DenseMath& math, std::int64_t samples);
  /// One a sample, after forward_top.
  [[nodiscard]] const float* logits() const;
  /// Sum over this rank's samples; the loss is the sum over ranks divided by the global batch.
  void loss_sum(DenseMath& math, const float* labels, std::int64_t samples, double* sum) const;
  void backward_top(DenseMath& math, const float* labels, std::int64_t samples,
                    std::int64_t global_batch);
  void backward_bottom(DenseMath& math, const float* dense, std::int64_t samples);

  /// All parameters' gradients of this rank's samples, contiguous: their sum over ranks is the
  /// gradient.
  [[nodiscard]] float* gradients() const { return context_.buffers.gradients; }
  [[nodiscard]] float* parameters() const { return context_.buffers.parameters; }
  [[nodiscard]] std::int64_t parameter_count() const { return context_.shape.parameters; }

  /// Moves the parameters by gradients(), which must hold the sum over ranks. `step` counts from 1.
  void update(DenseMath& math, std::int64_t step);

 private:
  [[nodiscard]] Matrix x0_columns() const;
  [[nodiscard]] Matrix top_output(std::size_t layer) const;
  [[nodiscard]] Matrix bottom_output(std::size_t layer) const;
  [[nodiscard]] Matrix top_input() const;
  [[nodiscard]] Matrix top_input_gradient() const;

  DenseContext context_;
  Optimizer optimizer_;
};

}  // namespace shardscope::engine
