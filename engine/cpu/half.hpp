#pragma once
// fp16 and bf16 as bit patterns, converted exactly as hardware does: to the wider type without
// loss, to the narrower rounded to nearest even; overflow gives infinity, subnormals are kept, a
// NaN stays a (quiet) NaN with its sign and leading payload bits. Portable; the vectorised kernels
// give the same bits.

#include <bit>
#include <cstdint>

namespace shardscope::engine {

[[nodiscard]] constexpr float fp16_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  // Shifted into a float's fields the exponent is 112 too small; the product restores it and
  // normalises subnormals on the way.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
  if (magnitude >= 0x7c00U) bits |= 0x7f800000U;
  if (magnitude > 0x7c00U) bits |= 0x00400000U;
  return std::bit_cast<float>(bits | sign);
}

[[nodiscard]] constexpr std::uint16_t float_to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  } else if (magnitude >= 0x47800000U) {  // 65536 and up
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: the addition rounds to multiples of 2^-24
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    half = (magnitude - 0x38000000U + 0xfffU + odd) >> 13;
  }
  return static_cast<std::uint16_t>(half | sign);
}

[[nodiscard]] constexpr float bf16_to_float(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

[[nodiscard]] constexpr std::uint16_t float_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const std::uint32_t rounded = nan ? bits | 0x00400000U : bits + 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>(rounded >> 16);
}

}  // namespace shardscope::engine
