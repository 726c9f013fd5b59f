#pragma once
// Work on bags of ids. `offsets` of a call: first id of each bag, counted from offsets[0].

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

struct MeanCall {
  MeanBags call;
  const std::int64_t* offsets = nullptr;
};
struct SpreadCall {
  SpreadBags call;
  const std::int64_t* offsets = nullptr;
};
struct ExpandCall {
  ExpandBags call;
  const std::int64_t* offsets = nullptr;  ///< null where lengths is
};

SHARDSCOPE_KERNEL void bag_scale_kernel(const BagScale* calls) {
  const BagScale& call = calls[block_y()];
  for (std::int64_t b = thread_index(); b < call.bags; b += thread_count()) {
    call.scale[b] = call.lengths[b] > 0 ? 1.0F / static_cast<float>(call.lengths[b]) : 0.0F;
  }
}

SHARDSCOPE_KERNEL void scale_rows_kernel(const ScaleRows* calls) {
  const ScaleRows& call = calls[block_y()];
  const RowGroup group = row_group(call.width, 1);
  for (std::int64_t r = group.first; r < call.count; r += group.step) {
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      call.rows[r * call.stride + c] *= call.scale[r];
    }
  }
}

SHARDSCOPE_KERNEL void mean_bags_kernel(const MeanCall* calls) {
  const MeanCall& mean = calls[block_y()];
  const MeanBags& call = mean.call;
  const RowGroup group = row_group(call.width, 1);
  for (std::int64_t b = group.first; b < call.bags; b += group.step) {
    const std::int64_t length = call.lengths[b];
    const float* rows = call.rows + (mean.offsets[b] - mean.offsets[0]) * call.width;
    float* out =
        call.out + b / call.bags_a_sample * call.out_stride + b % call.bags_a_sample * call.width;
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      float sum = 0;
      for (std::int64_t n = 0; n < length; ++n) sum += rows[n * call.width + c];
      out[c] = length > 0 ? sum / static_cast<float>(length) : 0.0F;
    }
  }
}

SHARDSCOPE_KERNEL void spread_bags_kernel(const SpreadCall* calls) {
  const SpreadCall& spread = calls[block_y()];
  const SpreadBags& call = spread.call;
  const RowGroup group = row_group(call.width, 1);
  for (std::int64_t b = group.first; b < call.bags; b += group.step) {
    const std::int64_t length = call.lengths[b];
    float* rows = call.rows + (spread.offsets[b] - spread.offsets[0]) * call.width;
    const float* from = call.gradients + b / call.bags_a_sample * call.gradient_stride +
                        b % call.bags_a_sample * call.width;
    for (std::int64_t c = group.lane; c < call.width; c += group.lanes) {
      const float value = length > 0 ? from[c] / static_cast<float>(length) : 0.0F;
      for (std::int64_t n = 0; n < length; ++n) rows[n * call.width + c] = value;
    }
  }
}

/// Lanes that share a bag when its ids are expanded.
inline constexpr std::int32_t kBagLanes = 8;

SHARDSCOPE_KERNEL void expand_bags_kernel(const ExpandCall* calls) {
  const ExpandCall& expand = calls[block_y()];
  const ExpandBags& call = expand.call;
  const RowGroup group = row_group(kBagLanes, 1);
  for (std::int64_t b = group.first; b < call.bags; b += group.step) {
    const bool jagged = expand.offsets != nullptr;
    const std::int64_t begin = jagged ? expand.offsets[b] - expand.offsets[0] : b;
    const std::int64_t end = jagged ? expand.offsets[b + 1] - expand.offsets[0] : b + 1;
    const float scale = call.scale == nullptr ? 1.0F : call.scale[b];
    for (std::int64_t n = begin + group.lane; n < end; n += group.lanes) {
      call.gradient_row[n] = call.first_row + static_cast<std::uint32_t>(b);
      if (call.weights_out == nullptr) continue;
      call.weights_out[n] = call.weights == nullptr ? scale : call.weights[n] * scale;
    }
  }
}

SHARDSCOPE_KERNEL void fill_offsets_kernel(const FillOffsets* calls) {
  const FillOffsets& call = calls[block_y()];
  for (std::int64_t n = thread_index(); n < call.count; n += thread_count()) {
    call.offsets[n] = call.first + n * call.step;
  }
}

}  // namespace shardscope::engine::cuda
