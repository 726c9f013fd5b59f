#pragma once
// What launches of whole lists share.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/kernels/rows.cuh"
#include "engine/cuda/work.hpp"

namespace shardscope::engine::cuda {

/// Rows at `data`, `stride` elements of `bytes` bytes apart, begin at whole vectors.
[[nodiscard]] inline bool is_vector_aligned(const void* data, std::int64_t stride,
                                            std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(kVector * bytes) ==
             0 &&
         stride % kVector == 0;
}

/// Threads for `rows` rows of `width` elements.
[[nodiscard]] inline std::int64_t row_threads(std::int64_t rows, std::int32_t width,
                                              std::int32_t vector) {
  return rows * lanes_of(width, vector);
}

/// Launches a kernel that takes the calls as they are. size(call) counts the threads with work.
template <class Call, class Size>
void launch_list(Stream& stream, std::span<const Call> calls, void (*kernel)(const Call*),
                 const Size& size) {
  if (calls.empty()) return;
  Work work(stream);
  std::int64_t threads = 0;
  for (const Call& call : calls) threads = std::max(threads, size(call));
  work.launch(list_grid(threads, calls.size()), kernel,
              work.upload(std::vector<Call>(calls.begin(), calls.end())));
}

/// Of lists whose sizes the device alone knows: all blocks there are.
inline constexpr std::int64_t kManyThreads = std::int64_t{1} << 40;

}  // namespace shardscope::engine::cuda
