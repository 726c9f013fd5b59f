#pragma once
// Where the ids of each bag begin, for all calls of a list by one sum.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/kernels/lengths.cuh"
#include "engine/cuda/work.hpp"

namespace shardscope::engine::cuda {

struct BagLengths {
  const std::int32_t* lengths = nullptr;
  std::int64_t bags = 0;
};

/// For each list of bags a pointer to bags + 1 offsets of which the first is not 0: the ids of bag
/// b are [offsets[b] - offsets[0], offsets[b + 1] - offsets[0]).
[[nodiscard]] inline std::vector<const std::int64_t*> bag_offsets(
    Work& work, std::span<const BagLengths> lists) {
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (const BagLengths& list : lists) {
    total += list.bags;
    longest = std::max(longest, list.bags);
  }
  auto* wide = work.scratch<std::int64_t>(total + 1);
  auto* offsets = work.scratch<std::int64_t>(total + 1);
  std::vector<LengthsCall> calls;
  std::vector<const std::int64_t*> first;
  std::int64_t base = 0;
  for (const BagLengths& list : lists) {
    calls.push_back({list.lengths, list.bags, wide + base});
    first.push_back(offsets + base);
    base += list.bags;
  }
  work.clear(wide + total, sizeof(std::int64_t));
  work.launch(list_grid(longest, calls.size()), widen_lengths_kernel, work.upload(calls));
  work.exclusive_sum(wide, offsets, total + 1);
  return first;
}

}  // namespace shardscope::engine::cuda
