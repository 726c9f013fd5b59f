#include "planner/dense_cost.hpp"

#include <algorithm>

#include "layout/dense_sizes.hpp"
#include "planner/cost_constants.hpp"

namespace shardscope {

namespace {

class DenseKernels {
 public:
  DenseKernels(const Gpu& gpu, double samples, double element_bytes)
      : flops_per_s_(gpu.gemm_flops_per_s.value * gpu.gemm_efficiency.value),
        bytes_per_s_(gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value),
        launch_s_(gpu.launch_s.value),
        samples_(samples),
        element_bytes_(element_bytes) {}

  /// One product of samples x in by in x out (or its transposes: the same work).
  [[nodiscard]] double gemm(double in, double out) const {
    const double flops = 2 * samples_ * in * out;
    const double bytes = element_bytes_ * (samples_ * (in + out) + in * out);
    return std::max(flops / flops_per_s_, bytes / bytes_per_s_) + launch_s_;
  }
  /// So many passes over samples x width.
  [[nodiscard]] double passes(double count, double width) const {
    return count * samples_ * width * element_bytes_ / bytes_per_s_ + launch_s_;
  }
  /// Pairwise products of `vectors` vectors a sample.
  [[nodiscard]] double pairs(double vectors, double width) const {
    const double flops = 2 * samples_ * vectors * vectors * width;
    const double bytes = element_bytes_ * samples_ * (vectors * width + vectors * vectors);
    return std::max(flops / flops_per_s_, bytes / bytes_per_s_) + launch_s_;
  }

 private:
  double flops_per_s_, bytes_per_s_, launch_s_, samples_, element_bytes_;
};

}  // namespace

DenseCost dense_cost(const Workload& workload, const Gpu& gpu, const ExecutorModel& executor,
                     double samples) {
  DenseCost cost;
  const Result<DenseShape> found = dense_shape(workload);
  if (!found || !found->present) return cost;
  const DenseShape& shape = *found;
  const DenseKernels kernels(gpu, samples, executor.activation_bytes);
  const auto width = static_cast<double>(shape.input_width);
  const auto rank = static_cast<double>(shape.cross_rank);

  for (const DenseLayer& layer : shape.bottom) {
    const double once = kernels.gemm(static_cast<double>(layer.in), static_cast<double>(layer.out));
    cost.bottom_forward_s += once;
    // The first layer's input needs no gradient.
    cost.bottom_backward_s += &layer == &shape.bottom.front() ? once : 2 * once;
  }
  cost.top_forward_s += kernels.passes(cost::kConcatPasses, width);
  cost.top_backward_s += kernels.passes(cost::kConcatPasses, width);
  for (std::size_t l = 0; l < shape.cross.size(); ++l) {
    const double factors = kernels.gemm(width, rank) + kernels.gemm(rank, width);
    cost.top_forward_s += factors + kernels.passes(cost::kCrossForwardPasses, width);
    cost.top_backward_s += 2 * factors + kernels.passes(cost::kCrossBackwardPasses, width);
  }
  if (shape.vectors > 0) {
    const double pairs =
        kernels.pairs(static_cast<double>(shape.vectors), static_cast<double>(shape.vector_width));
    cost.top_forward_s += pairs;
    cost.top_backward_s += 2 * pairs;
  }
  for (const DenseLayer& layer : shape.top) {
    const double once = kernels.gemm(static_cast<double>(layer.in), static_cast<double>(layer.out));
    cost.top_forward_s += once;
    cost.top_backward_s += 2 * once;
  }
  cost.parameters = static_cast<double>(shape.parameters);
  const double words = workload.dense.optimizer.words_per_element;
  // fp32 master weights and state are read and written, gradients read, 16-bit copies written.
  const double copy = executor.activation_bytes < 4 ? executor.activation_bytes : 0;
  const double element = 8 + 8 * words + executor.allreduced_bytes + copy;
  cost.update_s =
      cost.parameters * element / (gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value) +
      gpu.launch_s.value;
  return cost;
}

}  // namespace shardscope
