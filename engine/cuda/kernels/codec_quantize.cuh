#pragma once
// Codes of values within a bound, as engine/codec/quantizer.hpp has them: the same code, and an
// escape for the same values, as on the CPU.

#include "engine/cuda/codec_ops.hpp"
#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

/// Codes are at most 2^20: zigzag codes have 22 bits.
inline constexpr std::int32_t kMostPlanes = 22;

/// Unsigned words in the order of the floats, -0 below +0.
SHARDSCOPE_BOTH std::uint32_t ordered_word(std::uint32_t bits) {
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
SHARDSCOPE_BOTH std::uint32_t bits_of_ordered(std::uint32_t word) {
  return (word >> 31) != 0 ? word & 0x7fffffffU : ~word;
}

SHARDSCOPE_DEVICE float magnitude(float value) {
  return bits_to_float(float_to_bits(value) & 0x7fffffffU);
}

/// To nearest, ties to even, of up to 2^22 in magnitude: adding 1.5 x 2^23 leaves no fraction bits.
SHARDSCOPE_DEVICE float nearest_whole(float value) {
  constexpr float kShift = 12582912.0F;
  return (value + kShift) - kShift;
}

SHARDSCOPE_DEVICE std::uint32_t zigzag_of(std::int32_t code) {
  return (static_cast<std::uint32_t>(code) << 1) ^ (code < 0 ? ~0U : 0U);
}
SHARDSCOPE_DEVICE std::int32_t code_of(std::uint32_t zigzag) {
  return static_cast<std::int32_t>((zigzag >> 1) ^ (0U - (zigzag & 1U)));
}

SHARDSCOPE_KERNEL void codec_range_clear_kernel(const FiniteRangeCall* calls) {
  const FiniteRangeCall& call = calls[block_y()];
  if (thread_index() >= 2) return;
  call.words[thread_index()] = ~0U;
}

/// words[0] becomes the smallest ordered word of a finite value, words[1] the smallest complement
/// of one: both stay all ones where there is none.
SHARDSCOPE_KERNEL void codec_range_kernel(const FiniteRangeCall* calls) {
  const FiniteRangeCall& call = calls[block_y()];
  std::uint32_t low = ~0U;
  std::uint32_t high = ~0U;
  for (std::int64_t n = thread_index(); n < call.count; n += thread_count()) {
    const std::uint32_t bits = float_to_bits(call.values[n]);
    if ((bits & 0x7f800000U) == 0x7f800000U) continue;
    const std::uint32_t word = ordered_word(bits);
    low = word < low ? word : low;
    high = ~word < high ? ~word : high;
  }
  for (std::uint32_t by = 16; by > 0; by /= 2) {
    const std::uint32_t other_low = shuffle_down(low, by);
    const std::uint32_t other_high = shuffle_down(high, by);
    low = other_low < low ? other_low : low;
    high = other_high < high ? other_high : high;
  }
  if (thread_x() % 32 != 0) return;
  atomic_min(call.words, low);
  atomic_min(call.words + 1, high);
}

/// A warp a group of 32 values. Codes behind the last value are 0.
SHARDSCOPE_KERNEL void codec_quantize_kernel(const QuantizeCall* calls) {
  const QuantizeCall& call = calls[block_y()];
  const std::uint32_t lane = thread_x() % 32;
  const std::int64_t groups = (call.count + 31) / 32;
  for (std::int64_t g = thread_index() / 32; g < groups; g += thread_count() / 32) {
    const std::int64_t n = 32 * g + lane;
    const bool inside = n < call.count;
    const float value = inside ? call.values[n] : 0.0F;
    float scaled = value * call.inverse;
    scaled = scaled > -call.limit ? scaled : -call.limit;
    scaled = scaled < call.limit ? scaled : call.limit;
    const float code = nearest_whole(scaled);
    // The product the decoder will form; not <= rather than >: it catches NaN.
    const float decoded = code * call.step;
    const bool escapes = !(magnitude(value - decoded) <= call.bound);
    const std::uint32_t mask = ballot(escapes);
    call.codes[n] = escapes ? 0 : static_cast<std::int32_t>(code);
    if (lane == 0) call.escapes[g] = mask;
  }
}

}  // namespace shardscope::engine::cuda
