// Splitting, deduplicating and sorting ids.

#include <bit>

#include "engine/cuda/bag_offsets.hpp"
#include "engine/cuda/cuda_ops.hpp"
#include "engine/cuda/kernels/distinct.cuh"
#include "engine/cuda/kernels/index.cuh"
#include "engine/cuda/kernels/split.cuh"
#include "engine/cuda/lists.hpp"

namespace shardscope::engine::cuda {
namespace {

/// A host array of `count` pointers or bounds in device memory; null stays null.
template <class T>
T* upload_array(Work& work, T const* from, std::int64_t count) {
  if (from == nullptr) return nullptr;
  return work.upload(std::vector<T>(from, from + count));
}

/// Fields that Bucketize, Dedup and GroupIds have in common.
template <class Call>
SplitCall split_of(Work& work, const Call& call) {
  SplitCall split;
  split.ids = call.ids;
  split.key = call.key;
  split.shards = call.row_shards;
  split.cuts = upload_array(work, call.row_cuts, call.row_shards + 1);
  split.counts = call.counts;
  return split;
}

void set_tiles(SplitCall& split, std::int64_t count) {
  split.count = count;
  split.segments = (count + kTileIds - 1) / kTileIds;
}

void launch_split(Work& work, std::vector<SplitCall>& splits) {
  std::int64_t cells = 0;
  std::int64_t segments = 1;
  std::int64_t most_cells = 1;
  for (const SplitCall& split : splits) {
    cells += split.segments * split.shards;
    segments = std::max(segments, split.segments);
    most_cells = std::max(most_cells, split.segments * split.shards);
  }
  auto* left = work.scratch<std::int64_t>(cells + 1);
  auto* place = work.scratch<std::int64_t>(cells + 1);
  std::int64_t base = 0;
  for (SplitCall& split : splits) {
    split.left = left + base;
    split.place = place + base;
    base += split.segments * split.shards;
  }
  work.clear(left, (cells + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  const SplitCall* calls = work.upload(splits);
  work.launch(list_grid(32 * segments, splits.size()), split_count_kernel, calls);
  work.exclusive_sum(left, place, cells + 1);
  work.launch(list_grid(32 * segments, splits.size()), split_write_kernel, calls);
  work.launch(list_grid(most_cells, splits.size()), split_totals_kernel, calls);
}

/// One sort of the occurrences of calls whose row limits together fit Word.
template <class Word>
void sort_together(Work& work, std::span<const SortIndex> calls) {
  std::int64_t total = 0;
  std::int64_t longest = 1;
  std::uint64_t limit = 0;
  for (const SortIndex& call : calls) {
    total += call.count;
    longest = std::max(longest, call.count);
    limit += static_cast<std::uint64_t>(call.row_limit);
  }
  const std::int64_t room = work.room(total);
  auto* keys = work.scratch<Word>(room);
  auto* sorted_keys = work.scratch<Word>(room);
  auto* positions = work.scratch<std::uint32_t>(room);
  auto* sorted_positions = work.scratch<std::uint32_t>(room);
  auto* heads = work.scratch<std::int64_t>(room + 1);
  auto* ranks = work.scratch<std::int64_t>(room + 1);
  if (work.is_padded()) {
    // What is behind the occurrences sorts behind them: no row has a larger key, and equal keys
    // keep their order.
    work.clear(keys, room * static_cast<std::int64_t>(sizeof(Word)), 0xff);
    work.clear(heads, (room + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)));
  } else {
    work.clear(heads + total, sizeof(std::int64_t));
  }
  std::vector<SortCall> sorts;
  std::int64_t base = 0;
  std::uint64_t key_base = 0;
  for (const SortIndex& call : calls) {
    sorts.push_back({call, key_base, keys + base, positions + base, sorted_keys + base,
                     sorted_positions + base, heads + base, ranks + base});
    base += call.count;
    key_base += static_cast<std::uint64_t>(call.row_limit);
  }
  const SortCall* list = work.upload(sorts);
  const Grid grid = list_grid(longest, sorts.size());
  work.launch(grid, sort_keys_kernel<Word>, list);
  const int bits = std::bit_width(limit == 0 ? limit : limit - 1);
  work.sort_pairs(keys, sorted_keys, positions, sorted_positions, room, std::max(bits, 1));
  work.launch(grid, sort_heads_kernel<Word>, list);
  work.exclusive_sum(heads, ranks, room + 1);
  work.launch(grid, sort_emit_kernel<Word>, list);
}

}  // namespace

void CudaOps::bucketize(Stream& stream, std::span<const Bucketize> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<BagLengths> lengths;
  for (const Bucketize& call : calls) lengths.push_back({call.lengths, call.bags});
  const std::vector<const std::int64_t*> offsets = bag_offsets(work, lengths);
  std::vector<SplitCall> splits;
  for (const Bucketize& call : calls) {
    SplitCall split = split_of(work, call);
    split.segments = call.bags;
    split.offsets = offsets[splits.size()];
    split.weights = call.weights;
    split.ids_out = upload_array(work, call.ids_out, call.row_shards);
    if (call.weights != nullptr) {
      split.weights_out = upload_array(work, call.weights_out, call.row_shards);
    }
    split.lengths_out = upload_array(work, call.lengths_out, call.row_shards);
    splits.push_back(split);
  }
  launch_split(work, splits);
}

void CudaOps::group_ids(Stream& stream, std::span<const GroupIds> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<SplitCall> splits;
  for (const GroupIds& call : calls) {
    SplitCall split = split_of(work, call);
    set_tiles(split, call.count);
    split.ids_out = upload_array(work, call.out, call.row_shards);
    split.slot = call.slot;
    splits.push_back(split);
  }
  launch_split(work, splits);
}

void CudaOps::dedup(Stream& stream, std::span<const Dedup> calls) {
  if (calls.empty()) return;
  Work work(stream);
  std::vector<DistinctCall> distinct;
  std::vector<SplitCall> splits;
  std::int64_t capacity = 1;
  std::int64_t longest = 1;
  for (const Dedup& call : calls) {
    DistinctCall find{call.ids, call.key, call.count, call.table, 0, nullptr, call.slot};
    const std::int64_t wanted = std::max<std::int64_t>(2 * call.count, 16);
    find.capacity = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
    find.first = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(call.table) +
                                                  find.capacity * 2 * bytes_of(call.key));
    distinct.push_back(find);
    SplitCall split = split_of(work, call);
    set_tiles(split, call.count);
    split.first = find.first;
    split.ids_out = upload_array(work, call.unique_out, call.row_shards);
    split.slot = call.slot;
    splits.push_back(split);
    capacity = std::max(capacity, find.capacity);
    longest = std::max(longest, call.count);
  }
  const DistinctCall* list = work.upload(distinct);
  work.launch(list_grid(capacity, distinct.size()), distinct_clear_kernel, list);
  work.launch(list_grid(longest, distinct.size()), distinct_insert_kernel, list);
  work.launch(list_grid(longest, distinct.size()), distinct_first_kernel, list);
  launch_split(work, splits);
  work.launch(list_grid(longest, distinct.size()), distinct_slot_kernel, list);
}

void CudaOps::sort_index(Stream& stream, std::span<const SortIndex> calls) {
  constexpr std::uint64_t kNarrowLimit = std::uint64_t{1} << 32;
  // Tables are sorted together as long as their rows can be told apart in 63 bits.
  constexpr std::uint64_t kWideLimit = std::uint64_t{1} << 63;
  while (!calls.empty()) {
    std::size_t together = 0;
    std::uint64_t limit = 0;
    while (together < calls.size()) {
      const auto more = static_cast<std::uint64_t>(calls[together].row_limit);
      if (together > 0 && limit + more > kWideLimit) break;
      limit += more;
      ++together;
    }
    Work work(stream);
    if (limit <= kNarrowLimit) {
      sort_together<std::uint32_t>(work, calls.first(together));
    } else {
      sort_together<std::uint64_t>(work, calls.first(together));
    }
    calls = calls.subspan(together);
  }
}

}  // namespace shardscope::engine::cuda
