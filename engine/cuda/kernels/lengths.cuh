#pragma once
// Bag lengths of many calls as one list, to be summed up at once.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// Bag lengths of one call, widened into the list that is summed up for all calls at once.
struct LengthsCall {
  const std::int32_t* lengths = nullptr;
  std::int64_t bags = 0;
  std::int64_t* wide = nullptr;
};

SHARDSCOPE_KERNEL void widen_lengths_kernel(const LengthsCall* calls) {
  const LengthsCall& call = calls[block_y()];
  for (std::int64_t b = thread_index(); b < call.bags; b += thread_count()) {
    call.wide[b] = call.lengths[b];
  }
}

}  // namespace shardscope::engine::cuda
