#pragma once
// Stochastic rounding of fp16 and bf16 weights: a value between two representable neighbours goes
// to either with a probability proportional to its nearness, so that small updates are not lost in
// the mean. The random bits are a hash of (seed, table, row, column, step), never of the rank or of
// the shard, so that a layout does not change what is learned. A representable value stays itself;
// NaN and infinity stay; a magnitude of 65536 and up is infinite as fp16.

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/cpu/half.hpp"

namespace shardscope::engine {

/// 64-bit finaliser: every input bit changes every output bit with probability one half.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

/// What the keys of a table's rows share.
[[nodiscard]] constexpr std::uint64_t table_rounding_key(std::uint64_t seed, std::int32_t table) {
  return mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15U) ^ static_cast<std::uint32_t>(table));
}

/// Key of one row's update. `row` is the row of the whole table.
[[nodiscard]] constexpr std::uint64_t row_rounding_key(std::uint64_t table_key, std::int64_t row,
                                                       std::int64_t step) {
  return mix_bits(mix_bits(table_key ^ static_cast<std::uint64_t>(row)) ^
                  static_cast<std::uint64_t>(step));
}
[[nodiscard]] constexpr std::uint64_t rounding_key(std::uint64_t seed, std::int32_t table,
                                                   std::int64_t row, std::int64_t step) {
  return row_rounding_key(table_rounding_key(seed, table), row, step);
}

/// 32 random bits for a column of the whole table; 32-bit arithmetic so that lanes can do it.
[[nodiscard]] constexpr std::uint32_t rounding_bits(std::uint64_t key, std::uint32_t column) {
  std::uint32_t x = static_cast<std::uint32_t>(key) ^ (column * 0x9e3779b9U);
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) + static_cast<std::uint32_t>(key >> 32);
  x = x * 0x846ca68bU;
  return x ^ (x >> 16);
}

[[nodiscard]] constexpr std::uint16_t stochastic_bf16(float value, std::uint32_t random) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000U) == 0x7f800000U) return float_to_bf16(value);
  bits += random >> 16;
  return static_cast<std::uint16_t>(bits >> 16);
}

[[nodiscard]] inline std::uint16_t stochastic_fp16(float value, std::uint32_t random) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x38800000U) {  // 2^-14 and up, infinity, NaN
    if (magnitude >= 0x47800000U) return float_to_fp16(value);
    const std::uint32_t rounded = (bits + (random >> 19)) & ~0x1fffU;
    return float_to_fp16(std::bit_cast<float>(rounded));
  }
  // Below, neighbours are 2^-24 apart: compare the fraction with 24 random bits.
  const float units = std::bit_cast<float>(magnitude) * 0x1p24F;
  const float whole = std::floor(units);
  const float threshold = static_cast<float>(random >> 8) * 0x1p-24F;
  const auto half = static_cast<std::uint32_t>(whole) + (units - whole > threshold ? 1U : 0U);
  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U));
}

}  // namespace shardscope::engine
