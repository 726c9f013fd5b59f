// The dense part's arithmetic on a stream of a GPU.

#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/dense_math.hpp"
#include "engine/cuda/kernels/dense.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

Grid rows_grid(std::int64_t rows, std::int64_t width) {
  return list_grid(row_threads(rows, static_cast<std::int32_t>(width), 1), 1);
}

int operation_of(Transpose transpose) {
  return transpose == Transpose::yes ? kCublasTranspose : kCublasNoTranspose;
}

class CudaDenseMath final : public DenseMath {
 public:
  CudaDenseMath(CudaStream& stream, const CublasUse& cublas) : stream_(stream), cublas_(cublas) {}

  // Row-major matrices are cuBLAS' transposed ones: c' = op(b)' op(a)'.
  void multiply(Transpose a_op, Transpose b_op, std::int64_t m, std::int64_t n, std::int64_t k,
                ConstMatrix a, ConstMatrix b, float beta, Matrix c) override {
    if (m == 0 || n == 0 || !stream_.status()) return;
    if (k == 0) {
      for (std::int64_t row = 0; beta == 0 && row < m; ++row) fill_zero(n, c.data + row * c.stride);
      return;
    }
    if (!stream_.call(a_op, b_op, m, n, k, a.data, b.data, beta, c.data)) return;
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const int status =
        cublas_.api->gemm(cublas_.handle, operation_of(b_op), operation_of(a_op), number(n),
                          number(m), number(k), b.data, number(b.stride), a.data, number(a.stride),
                          beta, c.data, number(c.stride), cublas_.compute);
    if (status == kCublasSuccess) return;
    stream_.fail_with(std::string("cublasGemmEx failed with ") + cublas_.api->status_text(status),
                      "See `shardscope doctor`, or compute on the CPU with --dense-math host");
  }

  void add_bias(std::int64_t samples, std::int64_t width, const float* bias, Matrix values,
                bool relu) override {
    Work work(stream_);
    work.launch(rows_grid(samples, width), add_bias_kernel, values, bias, samples, width, relu);
  }

  void relu_backward(std::int64_t samples, std::int64_t width, ConstMatrix output,
                     Matrix gradient) override {
    Work work(stream_);
    work.launch(rows_grid(samples, width), relu_backward_kernel, output, gradient, samples, width);
  }

  void column_sums(std::int64_t samples, std::int64_t width, ConstMatrix values,
                   float* sums) override {
    Work work(stream_);
    const std::int64_t parts = (samples + kRowsOfPart - 1) / kRowsOfPart;
    auto* part = work.scratch<float>(parts * width);
    work.launch(list_grid(parts * width, 1), column_parts_kernel, values, samples, width, part);
    work.launch(list_grid(width, 1), add_parts_kernel, part, parts, width, sums);
  }

  void copy_rows(std::int64_t samples, std::int64_t width, ConstMatrix from, Matrix to) override {
    Work work(stream_);
    work.launch(rows_grid(samples, width), copy_rows_kernel, from, to, samples, width);
  }

  void fill_zero(std::int64_t elements, float* to) override {
    stream_.clear(to, elements * static_cast<std::int64_t>(sizeof(float)));
  }

  void add(std::int64_t elements, const float* from, float* to) override {
    Work work(stream_);
    work.launch(list_grid(elements, 1), add_values_kernel, from, to, elements);
  }

  void dot_forward(const DenseContext& context, std::int64_t samples) override {
    DotCall call = dot_call(context, samples);
    call.out = context.activation(context.plan.dot_out);
    Work work(stream_);
    work.launch(rows_grid(samples, 32), dot_forward_kernel, call);
  }

  void dot_backward(const DenseContext& context, std::int64_t samples,
                    const float* gradient) override {
    DotCall call = dot_call(context, samples);
    call.gradient = gradient;
    call.out = context.scratch(context.plan.x0_gradient);
    Work work(stream_);
    work.launch(rows_grid(samples, call.vector_width), dot_backward_kernel, call);
  }

  void cross_combine(std::int64_t samples, std::int64_t width, const float* bias, const float* x0,
                     const float* x, float* inner, float* out) override {
    Work work(stream_);
    work.launch(rows_grid(samples, width), cross_combine_kernel, bias, x0, x, inner, out, samples,
                width);
  }

  void cross_split(std::int64_t elements, const float* g, const float* x0, const float* inner,
                   float* x0_gradient, float* inner_gradient) override {
    Work work(stream_);
    work.launch(list_grid(elements, 1), cross_split_kernel, g, x0, inner, x0_gradient,
                inner_gradient, elements);
  }

  void loss_sum(const float* logits, const float* labels, std::int64_t samples,
                double* sum) override {
    const LossCall call{logits, labels, samples, sum, nullptr, 0};
    launch_list(stream_, std::span(&call, 1), loss_sum_kernel,
                [](const LossCall&) { return std::int64_t{1}; });
  }

  void loss_gradient(const float* logits, const float* labels, std::int64_t samples,
                     std::int64_t global_batch, float* gradient) override {
    const float share = 1.0F / static_cast<float>(global_batch);
    const LossCall call{logits, labels, samples, nullptr, gradient, share};
    launch_list(stream_, std::span(&call, 1), loss_gradient_kernel,
                [](const LossCall& of) { return of.samples; });
  }

  void update(const OptimizerUpdate& call) override {
    Work work(stream_);
    OptimizerUpdate all = call;
    all.unique_count = work.upload(std::vector<std::int64_t>{call.row_count});
    all.unique_rows = nullptr;
    ops_.optimizer_update(stream_, {&all, 1}, call.step);
  }

 private:
  static DotCall dot_call(const DenseContext& context, std::int64_t samples) {
    const DenseShape& shape = context.shape;
    DotCall call;
    call.x0 = context.activation(context.plan.x0);
    call.samples = samples;
    call.input_width = shape.input_width;
    call.top_input = shape.top_input;
    call.vectors = static_cast<std::int32_t>(shape.vectors);
    call.vector_width = static_cast<std::int32_t>(shape.vector_width);
    call.bottom_width = shape.bottom_width;
    return call;
  }

  CudaStream& stream_;
  CublasUse cublas_;
  CudaOps ops_;
};

}  // namespace

DenseMath* make_dense_math(CudaStream& stream, const CublasUse& cublas) {
  return new CudaDenseMath(stream, cublas);
}

}  // namespace shardscope::engine::cuda
