#include "engine/dense/layers.hpp"

#include <algorithm>
#include <mutex>

#include <cblas.h>

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

}  // namespace

void multiply(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n, std::int64_t k,
              ConstMatrix a, ConstMatrix b, float beta, Matrix c) {
  if (m == 0 || n == 0) return;
  std::unique_lock<std::mutex> lock;
  if (!blas_is_shared_safely()) lock = std::unique_lock(blas_mutex());
  const auto op = [](Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; };
  cblas_sgemm(CblasRowMajor, op(a_op), op(b_op), static_cast<blasint>(m), static_cast<blasint>(n),
              static_cast<blasint>(k), 1.0F, a.data, static_cast<blasint>(a.stride), b.data,
              static_cast<blasint>(b.stride), beta, c.data, static_cast<blasint>(c.stride));
}

void linear_forward(const DenseLayer& layer, const float* parameters, std::int64_t samples,
                    ConstMatrix in, Matrix out, bool relu) {
  multiply(Transpose::no, Transpose::yes, samples, layer.out, layer.in, in,
           {parameters + layer.weight, layer.in}, 0, out);
  const float* bias = parameters + layer.bias;
  for (std::int64_t s = 0; s < samples; ++s) {
    float* row = out.data + s * out.stride;
    if (relu) {
      for (std::int64_t c = 0; c < layer.out; ++c) row[c] = std::max(row[c] + bias[c], 0.0F);
    } else {
      for (std::int64_t c = 0; c < layer.out; ++c) row[c] += bias[c];
    }
  }
}

void linear_backward_parameters(const DenseLayer& layer, std::int64_t samples, ConstMatrix in,
                                ConstMatrix out_gradient, float* gradients) {
  multiply(Transpose::yes, Transpose::no, layer.out, layer.in, samples, out_gradient, in, 0,
           {gradients + layer.weight, layer.in});
  column_sums(samples, layer.out, out_gradient, gradients + layer.bias);
}

void linear_backward_input(const DenseLayer& layer, const float* parameters, std::int64_t samples,
                           ConstMatrix out_gradient, Matrix in_gradient) {
  multiply(Transpose::no, Transpose::no, samples, layer.in, layer.out, out_gradient,
           {parameters + layer.weight, layer.in}, 0, in_gradient);
}

void relu_backward(std::int64_t samples, std::int64_t width, ConstMatrix output, Matrix gradient) {
  for (std::int64_t s = 0; s < samples; ++s) {
    const float* out = output.data + s * output.stride;
    float* row = gradient.data + s * gradient.stride;
    for (std::int64_t c = 0; c < width; ++c) row[c] = out[c] > 0 ? row[c] : 0.0F;
  }
}

void column_sums(std::int64_t samples, std::int64_t width, ConstMatrix values, float* sums) {
  std::fill_n(sums, width, 0.0F);
  for (std::int64_t s = 0; s < samples; ++s) {
    const float* row = values.data + s * values.stride;
    for (std::int64_t c = 0; c < width; ++c) sums[c] += row[c];
  }
}

}  // namespace shardscope::engine
