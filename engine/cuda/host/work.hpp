#pragma once
// engine/cuda/work.hpp on the CPU: launches are tasks of a cpu stream. Included by that file only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "engine/cuda/host/block.hpp"
#include "engine/stream.hpp"

namespace shardscope::engine::cuda {

using Grid = host::Grid;

/// Few enough blocks to be quick, enough to show a kernel that is right for one only.
inline constexpr std::uint32_t kMostBlocks = 3;
inline constexpr std::uint32_t kThreadsOfLists = 64;
inline constexpr std::int32_t kPieceCapacity = 24;

class Work {
 public:
  explicit Work(Stream& stream) : stream_(stream), memory_(new Memory) {}
  /// The memory goes when the work has run.
  ~Work() {
    stream_.enqueue([memory = memory_] { delete memory; });
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// `count` elements that hold nothing yet.
  template <class T>
  [[nodiscard]] T* scratch(std::int64_t count) {
    return reinterpret_cast<T*>(allocate(count * static_cast<std::int64_t>(sizeof(T))));
  }

  /// A copy of the values in device memory.
  template <class T>
  [[nodiscard]] T* upload(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    T* to = scratch<T>(static_cast<std::int64_t>(values.size()));
    if (!values.empty()) std::memcpy(to, values.data(), values.size() * sizeof(T));
    return to;
  }

  template <class... Parameters, class... Arguments>
  void launch(const Grid& grid, void (*kernel)(Parameters...), const Arguments&... arguments) {
    const auto call = [kernel, ... values = static_cast<Parameters>(arguments)] {
      kernel(values...);
    };
    stream_.enqueue([grid, call] {
      host::run_grid(
          grid, [](const void* given) { (*static_cast<const decltype(call)*>(given))(); }, &call);
    });
  }

  void clear(void* to, std::int64_t bytes) {
    stream_.enqueue([to, bytes] { std::memset(to, 0, static_cast<std::size_t>(bytes)); });
  }

  /// out[n] = in[0] + ... + in[n - 1].
  void exclusive_sum(const std::int64_t* in, std::int64_t* out, std::int64_t count) {
    stream_.enqueue(
        [in, out, count] { std::exclusive_scan(in, in + count, out, std::int64_t{0}); });
  }

  /// Sorts by the lowest `bits` bits of the keys; equal ones keep their order.
  template <class Word>
  void sort_pairs(const Word* keys, Word* sorted_keys, const std::uint32_t* values,
                  std::uint32_t* sorted_values, std::int64_t count, int /*bits*/) {
    stream_.enqueue([=] {
      std::vector<std::int64_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [keys](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
      for (std::int64_t n = 0; n < count; ++n) {
        sorted_keys[n] = keys[order[static_cast<std::size_t>(n)]];
        sorted_values[n] = values[order[static_cast<std::size_t>(n)]];
      }
    });
  }

 private:
  using Memory = std::vector<std::unique_ptr<std::byte[]>>;

  std::byte* allocate(std::int64_t bytes) {
    constexpr std::byte kUnwritten{0xCB};
    memory_->push_back(
        std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes)));
    std::fill_n(memory_->back().get(), bytes, kUnwritten);
    return memory_->back().get();
  }

  Stream& stream_;
  Memory* memory_;
};

}  // namespace shardscope::engine::cuda
