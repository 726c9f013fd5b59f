#include <algorithm>

#include "engine/codec/huffman.hpp"

namespace shardscope::engine {
namespace {

/// Writes the sizes of all segments but the last, then the segments, each by write(begin, end, at).
template <class Write>
std::byte* write_segments(std::int64_t count, std::byte* out, const Write& write) {
  const std::int64_t segments = (count + kSegmentSymbols - 1) / kSegmentSymbols;
  std::byte* sizes = out;
  std::byte* at = out + 2 * std::max<std::int64_t>(segments - 1, 0);
  for (std::int64_t begin = 0; begin < count; begin += kSegmentSymbols) {
    std::byte* const end = write(begin, std::min(count, begin + kSegmentSymbols), at);
    if (begin + kSegmentSymbols < count) {
      // The bytes behind a segment may lie in the next one, never in these sizes.
      store_le(sizes, static_cast<std::uint16_t>(end - at));
      sizes += 2;
    }
    at = end;
  }
  return at;
}

}  // namespace

std::byte* encode_symbols(const EncodeTable& table, const std::uint8_t* symbols, std::int64_t count,
                          std::byte* out) {
  const auto put = [&](std::uint64_t& codes, int& bits, std::uint8_t symbol) {
    const std::uint32_t entry = table.code_and_length[symbol];
    codes |= static_cast<std::uint64_t>(entry & 0xffffU) << bits;
    bits += static_cast<int>(entry >> 16);
  };
  return write_segments(count, out, [&](std::int64_t begin, std::int64_t end, std::byte* at) {
    BitWriter writer(at);
    std::int64_t i = begin;
    for (; i + 4 <= end; i += 4) {
      std::uint64_t codes = 0;
      int bits = 0;
      for (std::int64_t k = 0; k < 4; ++k) put(codes, bits, symbols[i + k]);
      writer.put(codes, bits);
    }
    for (; i < end; ++i) {
      std::uint64_t codes = 0;
      int bits = 0;
      put(codes, bits, symbols[i]);
      writer.put(codes, bits);
    }
    return writer.end();
  });
}

std::byte* encode_wide(const EncodeTable& table, const std::int32_t* codes, std::int64_t count,
                       std::int32_t low, int spare_bits, std::byte* out) {
  const std::uint32_t spare_mask = (1U << spare_bits) - 1;
  return write_segments(count, out, [&](std::int64_t begin, std::int64_t end, std::byte* at) {
    BitWriter writer(at);
    for (std::int64_t i = begin; i < end; ++i) {
      const auto offset = static_cast<std::uint32_t>(codes[i] - low);
      const std::uint32_t entry = table.code_and_length[offset >> spare_bits];
      const int length = static_cast<int>(entry >> 16);
      const std::uint64_t bits =
          (entry & 0xffffU) | (static_cast<std::uint64_t>(offset & spare_mask) << length);
      writer.put(bits, length + spare_bits);
    }
    return writer.end();
  });
}

}  // namespace shardscope::engine
