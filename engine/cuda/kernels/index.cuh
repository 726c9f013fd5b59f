#pragma once
// Index calculation around the sort: the occurrences of all calls are sorted at once by
// (call, row), as one number.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

struct SortCall {
  SortIndex call;
  std::uint64_t key_base = 0;  ///< sum of the row limits of the calls before
  void* keys = nullptr;        ///< this call's part of the list that is sorted
  std::uint32_t* positions = nullptr;
  const void* sorted_keys = nullptr;
  const std::uint32_t* sorted_positions = nullptr;
  std::int64_t* heads = nullptr;        ///< 1 where a row begins
  const std::int64_t* ranks = nullptr;  ///< heads summed up; one more at the end
};

template <class Word>
SHARDSCOPE_KERNEL void sort_keys_kernel(const SortCall* calls) {
  const SortCall& sort = calls[block_y()];
  for (std::int64_t i = thread_index(); i < sort.call.count; i += thread_count()) {
    const auto row = static_cast<std::uint64_t>(id_at(sort.call.rows, sort.call.key, i));
    static_cast<Word*>(sort.keys)[i] = static_cast<Word>(sort.key_base + row);
    sort.positions[i] = static_cast<std::uint32_t>(i);
  }
}

template <class Word>
SHARDSCOPE_KERNEL void sort_heads_kernel(const SortCall* calls) {
  const SortCall& sort = calls[block_y()];
  const auto* keys = static_cast<const Word*>(sort.sorted_keys);
  for (std::int64_t i = thread_index(); i < sort.call.count; i += thread_count()) {
    sort.heads[i] = i == 0 || keys[i] != keys[i - 1] ? 1 : 0;
  }
}

template <class Word>
SHARDSCOPE_KERNEL void sort_emit_kernel(const SortCall* calls) {
  const SortCall& sort = calls[block_y()];
  const SortIndex& call = sort.call;
  const auto* keys = static_cast<const Word*>(sort.sorted_keys);
  for (std::int64_t i = thread_index(); i < call.count; i += thread_count()) {
    if (sort.heads[i] != 0) {
      const std::int64_t unique = sort.ranks[i] - sort.ranks[0];
      call.unique_rows[unique] = static_cast<std::int64_t>(keys[i] - sort.key_base);
      call.offsets[unique] = static_cast<std::uint32_t>(i);
    }
    const std::uint32_t position = sort.sorted_positions[i];
    call.sorted_gradient_row[i] =
        call.gradient_row != nullptr ? call.gradient_row[position] : position;
    if (call.weights != nullptr) call.sorted_weights[i] = call.weights[position];
  }
  if (thread_index() == 0) {
    const std::int64_t unique_count = sort.ranks[call.count] - sort.ranks[0];
    *call.unique_count = unique_count;
    call.offsets[unique_count] = static_cast<std::uint32_t>(call.count);
  }
}

}  // namespace shardscope::engine::cuda
