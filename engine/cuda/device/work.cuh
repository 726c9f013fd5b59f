#pragma once
// engine/cuda/work.hpp on a GPU. Included by that file only.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/cuda/cuda_stream.hpp"

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

class Work {
 public:
  /// The stream must be a CudaStream.
  explicit Work(Stream& stream) : stream_(static_cast<CudaStream&>(stream)) {}
  ~Work() {
    for (void* memory : memory_) stream_.free_temporary(memory);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  template <class T>
  [[nodiscard]] T* scratch(std::int64_t count) {
    memory_.push_back(stream_.temporary(count * static_cast<std::int64_t>(sizeof(T))));
    return static_cast<T*>(memory_.back());
  }

  template <class T>
  [[nodiscard]] T* upload(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto count = static_cast<std::int64_t>(values.size());
    T* to = scratch<T>(count);
    stream_.upload(to, values.data(), count * static_cast<std::int64_t>(sizeof(T)));
    return to;
  }

  /// Nothing runs after a failure: the kernels' memory may be missing.
  template <class... Parameters, class... Arguments>
  void launch(const Grid& grid, void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (!stream_.status()) return;
    if (!stream_.call(kernel, grid.y, static_cast<Parameters>(arguments)...)) return;
    const dim3 blocks(grid.x, grid.y);
    kernel<<<blocks, grid.threads, 0, native()>>>(static_cast<Parameters>(arguments)...);
    stream_.check(static_cast<int>(cudaGetLastError()), "kernel launch");
  }

  void clear(void* to, std::int64_t bytes, int value = 0) { stream_.clear(to, bytes, value); }
  /// See CudaStream.
  [[nodiscard]] std::int64_t room(std::int64_t count) { return stream_.room(count); }
  [[nodiscard]] bool is_padded() const { return stream_.is_padded(); }

  void exclusive_sum(const std::int64_t* in, std::int64_t* out, std::int64_t count);

  template <class Word>
  void sort_pairs(const Word* keys, Word* sorted_keys, const std::uint32_t* values,
                  std::uint32_t* sorted_values, std::int64_t count, int bits);

 private:
  [[nodiscard]] cudaStream_t native() const { return static_cast<cudaStream_t>(stream_.native()); }

  CudaStream& stream_;
  std::vector<void*> memory_;
};

}  // namespace shardscope::engine::cuda
