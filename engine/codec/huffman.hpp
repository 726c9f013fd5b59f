#pragma once
// Canonical Huffman codes of at most 11 bits over at most 256 symbols, written from the lowest bit
// up in segments of 1,024 symbols. A segment starts at a byte, so that each can be decoded on its
// own. What a decoder is given is proved before it is used: the lengths form a complete code, and
// every segment ends where the next begins.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/codec/bit_io.hpp"

namespace shardscope::engine {

inline constexpr int kMostCodeBits = 11;
inline constexpr std::int64_t kSegmentSymbols = 1024;
inline constexpr std::size_t kMostSymbols = 256;

using SymbolCounts = std::array<std::uint32_t, kMostSymbols>;
using CodeLengths = std::array<std::uint8_t, kMostSymbols>;

/// Counts of the bytes of `symbols`, added to what is there.
void count_symbols(const std::uint8_t* symbols, std::int64_t count, SymbolCounts& counts);

/// Lengths of the symbols that occur, 0 for the others; at least two must occur. A complete code.
void code_lengths(const SymbolCounts& counts, CodeLengths& lengths);

/// Bytes of the segments at most, their sizes included; `spare_bits` raw ones a symbol besides.
[[nodiscard]] std::int64_t most_segment_bytes(const SymbolCounts& counts,
                                              const CodeLengths& lengths, std::int64_t symbols,
                                              int spare_bits);

/// Lengths of codes, two a byte.
[[nodiscard]] std::byte* write_lengths(const CodeLengths& lengths, std::int64_t count,
                                       std::byte* out);
void read_lengths(ByteReader& reader, std::int64_t count, CodeLengths& lengths);

/// Code of each symbol as it is written.
struct EncodeTable {
  std::array<std::uint32_t, kMostSymbols> code_and_length{};  ///< code | length << 16

  explicit EncodeTable(const CodeLengths& lengths);
};

/// Symbols as they come. Returns the byte behind; up to kWriterSlack bytes more are touched.
[[nodiscard]] std::byte* encode_symbols(const EncodeTable& table, const std::uint8_t* symbols,
                                        std::int64_t count, std::byte* out);

/// Codes of 32 bits: (code - low) >> spare_bits is the symbol, the bits shifted out follow it.
[[nodiscard]] std::byte* encode_wide(const EncodeTable& table, const std::int32_t* codes,
                                     std::int64_t count, std::int32_t low, int spare_bits,
                                     std::byte* out);

class DecodeTable {
 public:
  /// A fault where the lengths are no complete code; symbol s decodes to the byte s + first.
  [[nodiscard]] PayloadFault build(const CodeLengths& lengths, std::uint8_t first);

  /// Decodes `count` symbols from the front of `bytes`; `taken` becomes the bytes they took.
  [[nodiscard]] PayloadFault decode_symbols(std::span<const std::byte> bytes, std::int64_t count,
                                            std::uint8_t* symbols, std::size_t& taken) const;

  /// The inverse of encode_wide; the table must have been built with first = 0.
  [[nodiscard]] PayloadFault decode_wide(std::span<const std::byte> bytes, std::int64_t count,
                                         std::int32_t low, int spare_bits, std::int32_t* codes,
                                         std::size_t& taken) const;

 private:
  /// One or two symbols: first | second << 8 | bits of both << 16 | bits of the first << 21 |
  /// how many << 25.
  std::array<std::uint32_t, std::size_t{1} << kMostCodeBits> entries_;
  int bits_ = 0;
};

}  // namespace shardscope::engine
