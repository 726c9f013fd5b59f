// CUB's sort and sum: the only file that compiles them, since they take long to compile.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "engine/cuda/work.hpp"

namespace shardscope::engine::cuda {

void Work::exclusive_sum(const std::int64_t* in, std::int64_t* out, std::int64_t count) {
  if (!stream().status()) return;
  std::size_t bytes = 0;
  const auto run = [&](void* scratch) {
    stream().check(
        static_cast<int>(cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, count, native())),
        "cub::DeviceScan::ExclusiveSum");
  };
  run(nullptr);
  void* scratch = this->scratch<std::byte>(static_cast<std::int64_t>(bytes));
  if (runs(in, out, count, scratch)) run(scratch);
}

template <class Word>
void Work::sort_pairs(const Word* keys, Word* sorted_keys, const std::uint32_t* values,
                      std::uint32_t* sorted_values, std::int64_t count, int bits) {
  if (!stream().status() || count == 0) return;
  std::size_t bytes = 0;
  const auto run = [&](void* scratch) {
    stream().check(
        static_cast<int>(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values,
                                                         sorted_values, count, 0, bits, native())),
        "cub::DeviceRadixSort::SortPairs");
  };
  run(nullptr);
  void* scratch = this->scratch<std::byte>(static_cast<std::int64_t>(bytes));
  if (runs(keys, sorted_keys, values, sorted_values, count, bits, scratch)) run(scratch);
}

template void Work::sort_pairs(const std::uint32_t*, std::uint32_t*, const std::uint32_t*,
                               std::uint32_t*, std::int64_t, int);
template void Work::sort_pairs(const std::uint64_t*, std::uint64_t*, const std::uint32_t*,
                               std::uint32_t*, std::int64_t, int);

}  // namespace shardscope::engine::cuda
