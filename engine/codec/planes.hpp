#pragma once
// Codes as bit planes. Groups of 32 codes in zigzag form (0, -1, 1, -2 ... become 0, 1, 2, 3 ...)
// keep as many bits as their largest needs: plane b of a group is one 32-bit word, bit i of it the
// bit b of code i. A GPU warp makes such a word by one ballot. The last group is filled with zeros.

#include <cstddef>
#include <cstdint>

namespace shardscope::engine {

inline constexpr std::int64_t kGroup = 32;

/// Bits of the widest zigzag code: that of -2^20 - 1 codes and beyond do not exist.
inline constexpr int kMostWidth = 22;

[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t codes) {
  return (codes + kGroup - 1) / kGroup;
}

/// Code arrays are readable and writable up to the end of their last group; widths hold one byte a
/// group. Codes there beyond `count` are zero for encoding and undefined after decoding.
void code_widths(const std::int8_t* codes, std::int64_t count, std::uint8_t* widths);
void code_widths(const std::int32_t* codes, std::int64_t count, std::uint8_t* widths);

/// Writes sum(widths) words of 4 bytes.
void pack_planes(const std::int8_t* codes, std::int64_t count, const std::uint8_t* widths,
                 std::byte* out);
void pack_planes(const std::int32_t* codes, std::int64_t count, const std::uint8_t* widths,
                 std::byte* out);

/// Reads sum(widths) words; widths are at most 8 for codes of 8 bits, else at most kMostWidth.
void unpack_planes(const std::byte* planes, const std::uint8_t* widths, std::int64_t count,
                   std::int8_t* codes);
void unpack_planes(const std::byte* planes, const std::uint8_t* widths, std::int64_t count,
                   std::int32_t* codes);

}  // namespace shardscope::engine
