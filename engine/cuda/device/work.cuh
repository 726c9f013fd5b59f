#pragma once
// engine/cuda/work.hpp on a GPU. Included by that file only.

#include <cstddef>
#include <cstdint>

#include "engine/cuda/work_memory.hpp"

namespace shardscope::engine::cuda {

struct Grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t threads = 256;
};

/// Fills an H200's 132 multiprocessors with 8 blocks of 256 threads each, and smaller GPUs.
inline constexpr std::uint32_t kMostBlocks = 132 * 8;
inline constexpr std::uint32_t kThreadsOfLists = 256;
inline constexpr std::int32_t kPieceCapacity = 8192;

class Work : public WorkMemory {
 public:
  using WorkMemory::WorkMemory;

  template <class... Parameters, class... Arguments>
  void launch(const Grid& grid, void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (!runs(kernel, grid.y, static_cast<Parameters>(arguments)...)) return;
    const dim3 blocks(grid.x, grid.y);
    kernel<<<blocks, grid.threads, 0, native()>>>(static_cast<Parameters>(arguments)...);
    stream().check(static_cast<int>(cudaGetLastError()), "kernel launch");
  }

  void exclusive_sum(const std::int64_t* in, std::int64_t* out, std::int64_t count);

  template <class Word>
  void sort_pairs(const Word* keys, Word* sorted_keys, const std::uint32_t* values,
                  std::uint32_t* sorted_values, std::int64_t count, int bits);

 private:
  [[nodiscard]] cudaStream_t native() const { return static_cast<cudaStream_t>(stream().native()); }
};

}  // namespace shardscope::engine::cuda
