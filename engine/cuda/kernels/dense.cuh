#pragma once
// What the dense part does between its products. Matrices are row-major fp32; lanes share a row.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// Rows that one thread of column_parts_kernel adds up.
inline constexpr std::int64_t kRowsOfPart = 64;
/// Largest block of loss_sum_kernel; a power of two, as the blocks are.
inline constexpr std::uint32_t kLossThreads = 256;

/// Dot interaction: vectors of a sample lie side by side in its row of x0.
struct DotCall {
  const float* x0 = nullptr;
  const float* gradient = nullptr;  ///< backward: samples x top_input
  float* out = nullptr;             ///< forward: samples x top_input; backward: of x0
  std::int64_t samples = 0;
  std::int64_t input_width = 0;  ///< columns of x0
  std::int64_t top_input = 0;
  std::int64_t bottom_width = 0;
  std::int32_t vectors = 0;
  std::int32_t vector_width = 0;
};

/// Labels stand elsewhere in every batch: by list.
struct LossCall {
  const float* logits = nullptr;
  const float* labels = nullptr;
  std::int64_t samples = 0;
  double* sum = nullptr;
  float* gradient = nullptr;
  float share = 0;  ///< 1 / global batch
};

SHARDSCOPE_KERNEL void add_bias_kernel(Matrix values, const float* bias, std::int64_t samples,
                                       std::int32_t width, bool relu) {
  const RowGroup group = row_group(width, 1);
  for (std::int64_t s = group.first; s < samples; s += group.step) {
    float* row = values.data + s * values.stride;
    for (std::int64_t c = group.lane; c < width; c += group.lanes) {
      const float value = row[c] + bias[c];
      row[c] = relu && !(value > 0) ? 0.0F : value;
    }
  }
}

SHARDSCOPE_KERNEL void relu_backward_kernel(ConstMatrix output, Matrix gradient,
                                            std::int64_t samples, std::int32_t width) {
  const RowGroup group = row_group(width, 1);
  for (std::int64_t s = group.first; s < samples; s += group.step) {
    float* row = gradient.data + s * gradient.stride;
    for (std::int64_t c = group.lane; c < width; c += group.lanes) {
      if (!(output.data[s * output.stride + c] > 0)) row[c] = 0;
    }
  }
}

SHARDSCOPE_KERNEL void copy_rows_kernel(ConstMatrix from, Matrix to, std::int64_t samples,
                                        std::int32_t width) {
  const RowGroup group = row_group(width, 1);
  for (std::int64_t s = group.first; s < samples; s += group.step) {
    for (std::int64_t c = group.lane; c < width; c += group.lanes) {
      to.data[s * to.stride + c] = from.data[s * from.stride + c];
    }
  }
}

SHARDSCOPE_KERNEL void add_values_kernel(const float* from, float* to, std::int64_t elements) {
  for (std::int64_t n = thread_index(); n < elements; n += thread_count()) to[n] += from[n];
}

/// part[p][c]: column c of rows [p * kRowsOfPart, (p + 1) * kRowsOfPart), added in order.
SHARDSCOPE_KERNEL void column_parts_kernel(ConstMatrix values, std::int64_t samples,
                                           std::int64_t width, float* part) {
  const std::int64_t parts = (samples + kRowsOfPart - 1) / kRowsOfPart;
  for (std::int64_t n = thread_index(); n < parts * width; n += thread_count()) {
    const std::int64_t p = n / width;
    const std::int64_t c = n - p * width;
    const std::int64_t left = samples - p * kRowsOfPart;
    const std::int64_t rows = left < kRowsOfPart ? left : kRowsOfPart;
    const float* from = values.data + p * kRowsOfPart * values.stride + c;
    float sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += from[r * values.stride];
    part[n] = sum;
  }
}

SHARDSCOPE_KERNEL void add_parts_kernel(const float* part, std::int64_t parts, std::int64_t width,
                                        float* sums) {
  for (std::int64_t c = thread_index(); c < width; c += thread_count()) {
    float sum = 0;
    for (std::int64_t p = 0; p < parts; ++p) sum += part[p * width + c];
    sums[c] = sum;
  }
}

SHARDSCOPE_KERNEL void dot_forward_kernel(DotCall call) {
  const RowGroup group = row_group(32, 1);
  for (std::int64_t s = group.first; s < call.samples; s += group.step) {
    const float* vectors = call.x0 + s * call.input_width;
    float* out = call.out + s * call.top_input;
    for (std::int64_t c = group.lane; c < call.bottom_width; c += group.lanes) out[c] = vectors[c];
    out += call.bottom_width;
    for (std::int64_t i = 1; i < call.vectors; ++i) {
      const float* a = vectors + i * call.vector_width;
      for (std::int64_t j = group.lane; j < i; j += group.lanes) {
        const float* b = vectors + j * call.vector_width;
        float sum = 0;
        for (std::int64_t c = 0; c < call.vector_width; ++c) sum += a[c] * b[c];
        out[j] = sum;
      }
      out += i;
    }
  }
}

SHARDSCOPE_KERNEL void dot_backward_kernel(DotCall call) {
  const RowGroup group = row_group(call.vector_width, 1);
  for (std::int64_t s = group.first; s < call.samples; s += group.step) {
    const float* vectors = call.x0 + s * call.input_width;
    const float* gradient = call.gradient + s * call.top_input;
    const float* products = gradient + call.bottom_width;
    float* out = call.out + s * call.input_width;
    for (std::int64_t i = 0; i < call.vectors; ++i) {
      for (std::int64_t c = group.lane; c < call.vector_width; c += group.lanes) {
        float sum = 0;
        for (std::int64_t j = 0; j < i; ++j) {
          sum += products[i * (i - 1) / 2 + j] * vectors[j * call.vector_width + c];
        }
        for (std::int64_t j = i + 1; j < call.vectors; ++j) {
          sum += products[j * (j - 1) / 2 + i] * vectors[j * call.vector_width + c];
        }
        const std::int64_t column = i * call.vector_width + c;
        out[column] = column < call.bottom_width ? sum + gradient[column] : sum;
      }
    }
  }
}

SHARDSCOPE_KERNEL void cross_combine_kernel(const float* bias, const float* x0, const float* x,
                                            float* inner, float* out, std::int64_t samples,
                                            std::int32_t width) {
  const RowGroup group = row_group(width, 1);
  for (std::int64_t s = group.first; s < samples; s += group.step) {
    for (std::int64_t c = group.lane; c < width; c += group.lanes) {
      const std::int64_t n = s * width + c;
      const float value = inner[n] + bias[c];
      inner[n] = value;
      out[n] = x0[n] * value + x[n];
    }
  }
}

SHARDSCOPE_KERNEL void cross_split_kernel(const float* g, const float* x0, const float* inner,
                                          float* x0_gradient, float* inner_gradient,
                                          std::int64_t elements) {
  for (std::int64_t n = thread_index(); n < elements; n += thread_count()) {
    x0_gradient[n] += g[n] * inner[n];
    inner_gradient[n] = g[n] * x0[n];
  }
}

/// One block.
SHARDSCOPE_KERNEL void loss_sum_kernel(const LossCall* calls) {
  const LossCall& call = *calls;
  SHARDSCOPE_SHARED(double, parts, kLossThreads);
  double mine = 0;
  for (std::int64_t n = thread_x(); n < call.samples; n += block_threads()) {
    const auto z = static_cast<double>(call.logits[n]);
    const double size = z < 0 ? -z : z;
    mine += (z > 0 ? z : 0.0) - z * static_cast<double>(call.labels[n]) +
            log_one_plus(exponential(-size));
  }
  parts[thread_x()] = mine;
  sync_block();
  for (std::uint32_t half = block_threads() / 2; half > 0; half /= 2) {
    if (thread_x() < half) parts[thread_x()] = parts[thread_x()] + parts[thread_x() + half];
    sync_block();
  }
  if (thread_x() == 0) *call.sum = parts[0];
}

SHARDSCOPE_KERNEL void loss_gradient_kernel(const LossCall* calls) {
  const LossCall& call = *calls;
  for (std::int64_t n = thread_index(); n < call.samples; n += thread_count()) {
    const float probability = 1.0F / (1.0F + exponential(-call.logits[n]));
    call.gradient[n] = (probability - call.labels[n]) * call.share;
  }
}

}  // namespace shardscope::engine::cuda
