// The dense part's arithmetic on the calling thread.

#include <algorithm>
#include <mutex>

#include <cblas.h>

#include "engine/cpu/kernels.hpp"
#include "engine/dense/dense_math.hpp"
#include "engine/dense/loss.hpp"

namespace shardscope::engine {

namespace {

/// OpenBLAS built without threads hands one work buffer to two callers at a time: their products
/// are then wrong now and then. Built with threads it is safe, and one thread a caller is asked
/// for, as the ranks are the threads.
bool blas_is_shared_safely() {
  static const bool safe = [] {
    if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL) return false;
    openblas_set_num_threads(1);
    return true;
  }();
  return safe;
}

std::mutex& blas_mutex() {
  static std::mutex mutex;
  return mutex;
}

class CpuDenseMath final : public DenseMath {
 public:
  void multiply(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n, std::int64_t k,
                ConstMatrix a, ConstMatrix b, float beta, Matrix c) override {
    if (m == 0 || n == 0) return;
    std::unique_lock<std::mutex> lock;
    if (!blas_is_shared_safely()) lock = std::unique_lock(blas_mutex());
    const auto op = [](Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; };
    cblas_sgemm(CblasRowMajor, op(a_op), op(b_op), static_cast<blasint>(m), static_cast<blasint>(n),
                static_cast<blasint>(k), 1.0F, a.data, static_cast<blasint>(a.stride), b.data,
                static_cast<blasint>(b.stride), beta, c.data, static_cast<blasint>(c.stride));
  }

  void add_bias(std::int64_t samples, std::int64_t width, const float* bias, Matrix values,
                bool relu) override {
    for (std::int64_t s = 0; s < samples; ++s) {
      float* row = values.data + s * values.stride;
      if (relu) {
        for (std::int64_t c = 0; c < width; ++c) row[c] = std::max(row[c] + bias[c], 0.0F);
      } else {
        for (std::int64_t c = 0; c < width; ++c) row[c] += bias[c];
      }
    }
  }

  void relu_backward(std::int64_t samples, std::int64_t width, ConstMatrix output,
                     Matrix gradient) override {
    for (std::int64_t s = 0; s < samples; ++s) {
      const float* out = output.data + s * output.stride;
      float* row = gradient.data + s * gradient.stride;
      for (std::int64_t c = 0; c < width; ++c) row[c] = out[c] > 0 ? row[c] : 0.0F;
    }
  }

  void column_sums(std::int64_t samples, std::int64_t width, ConstMatrix values,
                   float* sums) override {
    std::fill_n(sums, width, 0.0F);
    for (std::int64_t s = 0; s < samples; ++s) {
      const float* row = values.data + s * values.stride;
      for (std::int64_t c = 0; c < width; ++c) sums[c] += row[c];
    }
  }

  void copy_rows(std::int64_t samples, std::int64_t width, ConstMatrix from, Matrix to) override {
    for (std::int64_t s = 0; s < samples; ++s) {
      std::copy_n(from.data + s * from.stride, width, to.data + s * to.stride);
    }
  }

  void fill_zero(std::int64_t elements, float* to) override { std::fill_n(to, elements, 0.0F); }

  void add(std::int64_t elements, const float* from, float* to) override {
    for (std::int64_t i = 0; i < elements; ++i) to[i] += from[i];
  }

  void dot_forward(const DenseContext& context, std::int64_t samples) override {
    const DenseShape& shape = context.shape;
    float* pair = context.scratch(context.plan.pair);
    for (std::int64_t s = 0; s < samples; ++s) {
      // The vectors of a sample lie side by side in its row of x0.
      const float* vectors = context.activation(context.plan.x0) + s * shape.input_width;
      multiply(Transpose::no, Transpose::yes, shape.vectors, shape.vectors, shape.vector_width,
               {vectors, shape.vector_width}, {vectors, shape.vector_width}, 0,
               {pair, shape.vectors});
      float* out = context.activation(context.plan.dot_out) + s * shape.top_input;
      out = std::copy_n(vectors, shape.bottom_width, out);
      for (std::int64_t i = 1; i < shape.vectors; ++i) {
        out = std::copy_n(pair + i * shape.vectors, i, out);
      }
    }
  }

  void dot_backward(const DenseContext& context, std::int64_t samples,
                    const float* gradient) override {
    const DenseShape& shape = context.shape;
    float* pair = context.scratch(context.plan.pair);
    for (std::int64_t s = 0; s < samples; ++s, gradient += shape.top_input) {
      const float* products = gradient + shape.bottom_width;
      for (std::int64_t i = 0; i < shape.vectors; ++i) {
        pair[i * shape.vectors + i] = 0;
        for (std::int64_t j = 0; j < i; ++j, ++products) {
          pair[i * shape.vectors + j] = *products;
          pair[j * shape.vectors + i] = *products;
        }
      }
      const float* vectors = context.activation(context.plan.x0) + s * shape.input_width;
      float* x0_gradient = context.scratch(context.plan.x0_gradient) + s * shape.input_width;
      multiply(Transpose::no, Transpose::no, shape.vectors, shape.vector_width, shape.vectors,
               {pair, shape.vectors}, {vectors, shape.vector_width}, 0,
               {x0_gradient, shape.vector_width});
      for (std::int64_t c = 0; c < shape.bottom_width; ++c) x0_gradient[c] += gradient[c];
    }
  }

  void cross_combine(std::int64_t samples, std::int64_t width, const float* bias, const float* x0,
                     const float* x, float* inner, float* out) override {
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::int64_t c = 0; c < width; ++c) {
        inner[c] += bias[c];
        out[c] = x0[c] * inner[c] + x[c];
      }
      x0 += width;
      x += width;
      inner += width;
      out += width;
    }
  }

  void cross_split(std::int64_t elements, const float* g, const float* x0, const float* inner,
                   float* x0_gradient, float* inner_gradient) override {
    for (std::int64_t i = 0; i < elements; ++i) {
      x0_gradient[i] += g[i] * inner[i];
      inner_gradient[i] = g[i] * x0[i];
    }
  }

  void loss_sum(const float* logits, const float* labels, std::int64_t samples,
                double* sum) override {
    *sum = logit_loss_sum(logits, labels, samples);
  }

  void loss_gradient(const float* logits, const float* labels, std::int64_t samples,
                     std::int64_t global_batch, float* gradient) override {
    logit_loss_gradient(logits, labels, samples, global_batch, gradient);
  }

  void update(const OptimizerUpdate& call) override {
    OptimizerUpdate all = call;
    all.unique_count = &call.row_count;
    all.unique_rows = nullptr;
    optimizer_update(all);
  }
};

}  // namespace

DenseMath& cpu_dense_math() {
  static CpuDenseMath math;
  return math;
}

}  // namespace shardscope::engine
