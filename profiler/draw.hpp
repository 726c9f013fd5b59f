#pragma once
// Reproducible draws from (seed, index): no state, the same on every machine.

#include <cstdint>

namespace shardscope {

/// 64 well-mixed bits.
[[nodiscard]] constexpr std::uint64_t drawn_bits(std::uint64_t seed, std::uint64_t index) {
  // Twice the finaliser of SplitMix64: every input bit reaches every output bit.
  std::uint64_t value = seed;
  for (const std::uint64_t word : {std::uint64_t{0}, index}) {
    value = (value ^ word) + 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    value ^= value >> 31;
  }
  return value;
}

/// One of 0 .. choices - 1.
[[nodiscard]] constexpr std::int64_t drawn(std::uint64_t seed, std::int64_t index,
                                           std::int64_t choices) {
  return static_cast<std::int64_t>(drawn_bits(seed, static_cast<std::uint64_t>(index)) %
                                   static_cast<std::uint64_t>(choices));
}

}  // namespace shardscope
