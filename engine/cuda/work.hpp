#pragma once
// The launches of one operation: Work gives device memory that lasts until they have run, copies
// lists there and launches kernels on a stream. Sorting and summing up stand behind it, on a GPU
// those of CUB.

#if defined(__CUDACC__)
#include "engine/cuda/device/work.cuh"
#else
#include "engine/cuda/host/work.hpp"
#endif

#include <algorithm>

namespace shardscope::engine::cuda {

/// Blocks for `threads` threads in each of `calls` lists; what one launch does not cover at once
/// its loops do.
[[nodiscard]] inline Grid list_grid(std::int64_t threads, std::size_t calls) {
  Grid grid;
  grid.threads = kThreadsOfLists;
  const std::int64_t blocks = (threads + kThreadsOfLists - 1) / kThreadsOfLists;
  grid.x = static_cast<std::uint32_t>(std::clamp<std::int64_t>(blocks, 1, kMostBlocks));
  grid.y = static_cast<std::uint32_t>(calls);
  return grid;
}

}  // namespace shardscope::engine::cuda
