#pragma once
// Rows of any type seen as fp32, and the threads that share a row.

#include "engine/cuda/portable.hpp"

namespace shardscope::engine::cuda {

/// Elements of one vector access: 16 bytes of fp32, 8 bytes of fp16 or bf16.
inline constexpr std::int32_t kVector = 4;

SHARDSCOPE_DEVICE float row_value(float value) {
  return value;
}
SHARDSCOPE_DEVICE float row_value(Fp16 value) {
  return half_to_float(value.bits);
}
SHARDSCOPE_DEVICE float row_value(Bf16 value) {
  return bits_to_float(static_cast<std::uint32_t>(value.bits) << 16);
}

SHARDSCOPE_DEVICE std::uint16_t bf16_from_float(float value) {
  const std::uint32_t bits = float_to_bits(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = nan ? bits | 0x00400000U : bits + 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>(rounded >> 16);
}

SHARDSCOPE_DEVICE void store_value(float* to, float value) {
  *to = value;
}
SHARDSCOPE_DEVICE void store_value(Fp16* to, float value) {
  to->bits = half_from_float(value);
}
SHARDSCOPE_DEVICE void store_value(Bf16* to, float value) {
  to->bits = bf16_from_float(value);
}

/// V neighbouring elements: 1, or kVector at an aligned address.
template <int V>
struct Lane {
  float v[V];
};

SHARDSCOPE_DEVICE std::uint16_t low_half(std::uint32_t word) {
  return static_cast<std::uint16_t>(word & 0xffffU);
}
SHARDSCOPE_DEVICE std::uint16_t high_half(std::uint32_t word) {
  return static_cast<std::uint16_t>(word >> 16);
}

template <int V, class Row>
SHARDSCOPE_DEVICE Lane<V> load_lane(const Row* from) {
  Lane<V> lane;
  if constexpr (V == 1) {
    lane.v[0] = row_value(*from);
  } else if constexpr (sizeof(Row) == 4) {
    const auto words = load_words<Words4>(from);
    SHARDSCOPE_UNROLL
    for (int k = 0; k < V; ++k) lane.v[k] = bits_to_float(words.word[k]);
  } else {
    const auto words = load_words<Words2>(from);
    lane.v[0] = row_value(Row{low_half(words.word[0])});
    lane.v[1] = row_value(Row{high_half(words.word[0])});
    lane.v[2] = row_value(Row{low_half(words.word[1])});
    lane.v[3] = row_value(Row{high_half(words.word[1])});
  }
  return lane;
}

template <class Row>
SHARDSCOPE_DEVICE std::uint32_t packed_pair(float low, float high) {
  Row a{};
  Row b{};
  store_value(&a, low);
  store_value(&b, high);
  return static_cast<std::uint32_t>(a.bits) | static_cast<std::uint32_t>(b.bits) << 16;
}

template <int V, class Row>
SHARDSCOPE_DEVICE void store_lane(Row* to, const Lane<V>& lane) {
  if constexpr (V == 1) {
    store_value(to, lane.v[0]);
  } else if constexpr (sizeof(Row) == 4) {
    Words4 words;
    SHARDSCOPE_UNROLL
    for (int k = 0; k < V; ++k) words.word[k] = float_to_bits(lane.v[k]);
    store_words(to, words);
  } else {
    Words2 words;
    words.word[0] = packed_pair<Row>(lane.v[0], lane.v[1]);
    words.word[1] = packed_pair<Row>(lane.v[2], lane.v[3]);
    store_words(to, words);
  }
}

/// Calls use(Row{}) with the type that stands for `type`.
template <class Use>
SHARDSCOPE_DEVICE void with_row_type(DType type, const Use& use) {
  switch (type) {
    case DType::fp16:
      return use(Fp16{});
    case DType::bf16:
      return use(Bf16{});
    case DType::fp32:
      return use(float{});
  }
}

SHARDSCOPE_DEVICE std::int64_t id_at(const void* ids, KeyType key, std::int64_t n) {
  return key == KeyType::i64 ? static_cast<const std::int64_t*>(ids)[n]
                             : static_cast<const std::int32_t*>(ids)[n];
}

/// Number of this thread among all of its row of blocks, and how many there are.
SHARDSCOPE_DEVICE std::int64_t thread_index() {
  return static_cast<std::int64_t>(block_x()) * block_threads() + thread_x();
}
SHARDSCOPE_DEVICE std::int64_t thread_count() {
  return static_cast<std::int64_t>(grid_x()) * block_threads();
}

/// Lanes that share a row of `width` elements, V at a time: a power of two up to a warp.
SHARDSCOPE_BOTH std::uint32_t lanes_of(std::int32_t width, std::int32_t vector) {
  const std::int32_t needed = (width + vector - 1) / vector;
  std::uint32_t lanes = 1;
  while (lanes < 32 && static_cast<std::int32_t>(lanes) < needed) lanes *= 2;
  return lanes;
}

/// Where a thread starts when groups of lanes share rows: rows first, first + step, ...
struct RowGroup {
  std::uint32_t lane = 0;
  std::uint32_t lanes = 1;
  std::int64_t first = 0;
  std::int64_t step = 1;
};

SHARDSCOPE_DEVICE RowGroup row_group(std::int32_t width, std::int32_t vector) {
  RowGroup group;
  group.lanes = lanes_of(width, vector);
  group.lane = thread_x() % group.lanes;
  group.first = thread_index() / group.lanes;
  group.step = thread_count() / group.lanes;
  return group;
}

}  // namespace shardscope::engine::cuda
