#pragma once
// Splits ids by row shard, each shard's in input order: what bucketize, dedup and group_ids share.
// A call's ids lie in segments (bags, or tiles of equal length); a warp counts the ids of each
// (shard, segment) cell, one sum over all cells of all calls gives every cell its place, and the
// warp writes. Nothing depends on the order in which warps run.

#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// Ids of a segment where the ids lie in no bags.
inline constexpr std::int64_t kTileIds = 256;

struct SplitCall {
  const void* ids = nullptr;
  KeyType key = KeyType::i32;
  const float* weights = nullptr;
  std::int64_t count = 0;  ///< ids, where segments are tiles
  std::int64_t segments = 0;
  const std::int64_t* offsets = nullptr;  ///< of bags; null: tiles
  const std::uint32_t* first = nullptr;   ///< takes only the ids n with first[n] == n; or null: all
  std::int32_t shards = 1;
  const std::int64_t* cuts = nullptr;   ///< shards + 1 bounds, or null: modulo
  std::int64_t* left = nullptr;         ///< [shard][segment] ids counted, then not yet written
  const std::int64_t* place = nullptr;  ///< [shard][segment] summed up; one more at the end
  void* const* ids_out = nullptr;
  float* const* weights_out = nullptr;
  std::int32_t* const* lengths_out = nullptr;
  std::int64_t* counts = nullptr;
  std::uint32_t* slot = nullptr;  ///< or null
};

struct RowInShard {
  std::uint32_t shard = 0;
  std::int64_t row = 0;
};

SHARDSCOPE_DEVICE RowInShard shard_of(const SplitCall& call, std::int64_t id) {
  const auto shards = static_cast<std::uint32_t>(call.shards);
  if (shards == 1) return {0, id};
  if (call.cuts == nullptr) {
    // 32-bit division is several times as fast.
    if (id <= 0xffffffffLL) {
      const auto narrow = static_cast<std::uint32_t>(id);
      return {narrow % shards, narrow / shards};
    }
    return {static_cast<std::uint32_t>(id % shards), id / shards};
  }
  std::uint32_t low = 0;
  std::uint32_t high = shards;
  while (high - low > 1) {
    const std::uint32_t middle = (low + high) / 2;
    (call.cuts[middle] <= id ? low : high) = middle;
  }
  return {low, id - call.cuts[low]};
}

struct Segment {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

SHARDSCOPE_DEVICE Segment segment_of(const SplitCall& call, std::int64_t segment) {
  if (call.offsets != nullptr) {
    return {call.offsets[segment] - call.offsets[0], call.offsets[segment + 1] - call.offsets[0]};
  }
  const std::int64_t end = (segment + 1) * kTileIds;
  return {segment * kTileIds, end < call.count ? end : call.count};
}

SHARDSCOPE_DEVICE bool is_taken(const SplitCall& call, std::int64_t n) {
  return call.first == nullptr || call.first[n] == static_cast<std::uint32_t>(n);
}

SHARDSCOPE_KERNEL void split_count_kernel(const SplitCall* calls) {
  const SplitCall& call = calls[block_y()];
  const std::uint32_t lane = thread_x() % 32;
  for (std::int64_t s = thread_index() / 32; s < call.segments; s += thread_count() / 32) {
    const Segment segment = segment_of(call, s);
    for (std::int64_t n = segment.begin + lane; n < segment.end; n += 32) {
      if (!is_taken(call, n)) continue;
      const RowInShard at = shard_of(call, id_at(call.ids, call.key, n));
      atomic_add(&call.left[at.shard * call.segments + s], std::int64_t{1});
    }
  }
}

SHARDSCOPE_DEVICE void write_id(const SplitCall& call, const RowInShard& at, std::int64_t n,
                                std::int64_t place) {
  const std::int64_t position = place - call.place[at.shard * call.segments];
  if (call.key == KeyType::i64) {
    static_cast<std::int64_t*>(call.ids_out[at.shard])[position] = at.row;
  } else {
    static_cast<std::int32_t*>(call.ids_out[at.shard])[position] =
        static_cast<std::int32_t>(at.row);
  }
  if (call.weights != nullptr) call.weights_out[at.shard][position] = call.weights[n];
  if (call.slot != nullptr) call.slot[n] = static_cast<std::uint32_t>(place - call.place[0]);
}

SHARDSCOPE_KERNEL void split_write_kernel(const SplitCall* calls) {
  constexpr std::uint32_t kNoShard = 0xffffffffU;
  const SplitCall& call = calls[block_y()];
  const std::uint32_t lane = thread_x() % 32;
  for (std::int64_t s = thread_index() / 32; s < call.segments; s += thread_count() / 32) {
    const Segment segment = segment_of(call, s);
    for (std::int64_t base = segment.begin; base < segment.end; base += 32) {
      const std::int64_t n = base + lane;
      RowInShard at{kNoShard, 0};
      if (n < segment.end && is_taken(call, n)) at = shard_of(call, id_at(call.ids, call.key, n));
      // Lanes of one shard take neighbouring places in lane order; their first moves the cell on.
      const std::uint32_t group = match_any(at.shard);
      const auto leader = static_cast<std::uint32_t>(lowest_bit(group));
      const std::int64_t cell = at.shard * call.segments + s;
      std::int64_t first = 0;
      if (at.shard != kNoShard && lane == leader) {
        const std::int64_t left = call.left[cell];
        first = call.place[cell + 1] - left;
        call.left[cell] = left - bits_set(group);
      }
      first = shuffle(first, leader);
      if (at.shard != kNoShard) {
        write_id(call, at, n, first + bits_set(group & ((1U << lane) - 1)));
      }
      sync_warp();
    }
  }
}

/// Lengths of the shards' bags and the shards' counts.
SHARDSCOPE_KERNEL void split_totals_kernel(const SplitCall* calls) {
  const SplitCall& call = calls[block_y()];
  for (std::int64_t j = thread_index(); j < call.shards; j += thread_count()) {
    call.counts[j] = call.place[(j + 1) * call.segments] - call.place[j * call.segments];
  }
  if (call.lengths_out == nullptr) return;
  const std::int64_t cells = call.shards * call.segments;
  for (std::int64_t cell = thread_index(); cell < cells; cell += thread_count()) {
    call.lengths_out[cell / call.segments][cell % call.segments] =
        static_cast<std::int32_t>(call.place[cell + 1] - call.place[cell]);
  }
}

}  // namespace shardscope::engine::cuda
