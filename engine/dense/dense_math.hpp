#pragma once
// The arithmetic of the dense part, one call after the other: at once on the calling thread, or
// enqueued on the stream of a GPU that the object was made for (engine/cuda/dense_ops.cu). All
// pointers are memory of that device. No call allocates memory of the host.

#include <cstdint>

#include "engine/dense/interaction.hpp"
#include "engine/dense/matrix.hpp"
#include "engine/ops.hpp"

namespace shardscope::engine {

class DenseMath {
 public:
  virtual ~DenseMath() = default;

  /// c = op(a) op(b) + beta c, c is m x n, the inner dimension k. Any may be 0.
  virtual void multiply(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n,
                        std::int64_t k, ConstMatrix a, ConstMatrix b, float beta, Matrix c) = 0;
  /// values += bias by column, then max(0, .) if relu.
  virtual void add_bias(std::int64_t samples, std::int64_t width, const float* bias, Matrix values,
                        bool relu) = 0;
  /// Zeroes the gradient where the ReLU's output is not positive.
  virtual void relu_backward(std::int64_t samples, std::int64_t width, ConstMatrix output,
                             Matrix gradient) = 0;
  /// sums[c] = sum of column c.
  virtual void column_sums(std::int64_t samples, std::int64_t width, ConstMatrix values,
                           float* sums) = 0;
  virtual void copy_rows(std::int64_t samples, std::int64_t width, ConstMatrix from, Matrix to) = 0;
  virtual void fill_zero(std::int64_t elements, float* to) = 0;
  /// to += from.
  virtual void add(std::int64_t elements, const float* from, float* to) = 0;

  /// Writes a sample's bottom output and the products of all pairs of its vectors (i > j, by i then
  /// j) to the plan's dot_out.
  virtual void dot_forward(const DenseContext& context, std::int64_t samples) = 0;
  /// From the gradient of dot_out (samples x top_input) to that of x0.
  virtual void dot_backward(const DenseContext& context, std::int64_t samples,
                            const float* gradient) = 0;
  /// inner += bias by column; out = x0 * inner + x. All samples x width.
  virtual void cross_combine(std::int64_t samples, std::int64_t width, const float* bias,
                             const float* x0, const float* x, float* inner, float* out) = 0;
  /// x0_gradient += g * inner; inner_gradient = g * x0.
  virtual void cross_split(std::int64_t elements, const float* g, const float* x0,
                           const float* inner, float* x0_gradient, float* inner_gradient) = 0;

  /// Sum of logit_loss over the samples.
  virtual void loss_sum(const float* logits, const float* labels, std::int64_t samples,
                        double* sum) = 0;
  /// As logit_loss_gradient().
  virtual void loss_gradient(const float* logits, const float* labels, std::int64_t samples,
                             std::int64_t global_batch, float* gradient) = 0;
  /// Of rows 0 to row_count (unique_count and unique_rows are not read).
  virtual void update(const OptimizerUpdate& call) = 0;
};

/// fp32 by a BLAS on the calling thread. Has no state: any thread may use it.
[[nodiscard]] DenseMath& cpu_dense_math();

}  // namespace shardscope::engine
