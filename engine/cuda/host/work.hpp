#pragma once
// engine/cuda/work.hpp on the CPU: launches are tasks of a stream. Included by that file only.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "engine/cuda/host/block.hpp"
#include "engine/cuda/work_memory.hpp"

namespace shardscope::engine::cuda {

using Grid = host::Grid;

/// Few enough blocks to be quick, enough to show a kernel that is right for one only.
inline constexpr std::uint32_t kMostBlocks = 3;
inline constexpr std::uint32_t kThreadsOfLists = 64;
inline constexpr std::int32_t kPieceCapacity = 24;

class Work : public WorkMemory {
 public:
  using WorkMemory::WorkMemory;

  template <class... Parameters, class... Arguments>
  void launch(const Grid& grid, void (*kernel)(Parameters...), const Arguments&... arguments) {
    if (!runs(kernel, grid.y, static_cast<Parameters>(arguments)...)) return;
    const auto call = [kernel, ... values = static_cast<Parameters>(arguments)] {
      kernel(values...);
    };
    stream().enqueue_kernel([grid, call] {
      host::run_grid(
          grid, [](const void* given) { (*static_cast<const decltype(call)*>(given))(); }, &call);
    });
  }

  /// out[n] = in[0] + ... + in[n - 1].
  void exclusive_sum(const std::int64_t* in, std::int64_t* out, std::int64_t count) {
    if (!runs(in, out, count)) return;
    stream().enqueue_kernel(
        [in, out, count] { std::exclusive_scan(in, in + count, out, std::int64_t{0}); });
  }

  /// Sorts by the lowest `bits` bits of the keys; equal ones keep their order.
  template <class Word>
  void sort_pairs(const Word* keys, Word* sorted_keys, const std::uint32_t* values,
                  std::uint32_t* sorted_values, std::int64_t count, int bits) {
    if (!runs(keys, sorted_keys, values, sorted_values, count, bits)) return;
    stream().enqueue_kernel([=] {
      const auto digits = [keys, bits](std::int64_t n) {
        const int unread = static_cast<int>(8 * sizeof(Word)) - bits;
        return static_cast<Word>(keys[n] << unread);
      };
      std::vector<std::int64_t> order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [digits](std::int64_t a, std::int64_t b) { return digits(a) < digits(b); });
      for (std::int64_t n = 0; n < count; ++n) {
        sorted_keys[n] = keys[order[static_cast<std::size_t>(n)]];
        sorted_values[n] = values[order[static_cast<std::size_t>(n)]];
      }
    });
  }
};

}  // namespace shardscope::engine::cuda
