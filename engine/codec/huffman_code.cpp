#include <algorithm>
#include <bit>

#include "engine/codec/huffman.hpp"

namespace shardscope::engine {
namespace {

struct CountedSymbol {
  std::uint64_t count;
  std::uint16_t symbol;
};

using Sorted = std::array<CountedSymbol, kMostSymbols>;

/// Depths of the leaves of a Huffman tree over ascending counts, in place of the counts: in the
/// first pass an element becomes the index of its parent, in the second its depth (Moffat and
/// Katajainen, 1995).
void counts_to_depths(Sorted& leaves, std::size_t count) {
  std::size_t leaf = 0;
  std::size_t root = 0;
  const auto take = [&](std::size_t next) {
    const bool from_leaf =
        leaf < count && (root == next || leaves[leaf].count <= leaves[root].count);
    if (from_leaf) return leaves[leaf++].count;
    const std::uint64_t sum = leaves[root].count;
    leaves[root++].count = next;
    return sum;
  };
  for (std::size_t next = 0; next + 1 < count; ++next) {
    const std::uint64_t first = take(next);
    const std::uint64_t second = take(next);
    leaves[next].count = first + second;
  }
  leaves[count - 2].count = 0;
  for (std::size_t i = count - 2; i-- > 0;) {
    leaves[i].count = leaves[static_cast<std::size_t>(leaves[i].count)].count + 1;
  }
  // Inner nodes of each depth decide how many leaves that depth has.
  std::size_t inner = count - 1;
  std::size_t out = count;
  std::size_t available = 1;
  for (std::uint64_t depth = 0; available > 0; ++depth) {
    std::size_t used = 0;
    while (inner > 0 && leaves[inner - 1].count == depth) {
      --inner;
      ++used;
    }
    for (std::size_t i = used; i < available; ++i) leaves[--out].count = depth;
    available = 2 * used;
  }
}

using LengthCounts = std::array<std::uint32_t, 64>;

/// Shortens codes to kMostCodeBits and keeps the code complete: a code too long hangs beside a
/// shorter one, which moves one level down for it.
void limit_lengths(LengthCounts& of_length, std::size_t longest) {
  std::uint64_t excess = 0;  // in units of the longest legal code
  for (std::size_t length = kMostCodeBits + 1; length <= longest; ++length) {
    of_length[kMostCodeBits] += of_length[length];
    of_length[length] = 0;
  }
  for (std::size_t length = 1; length <= kMostCodeBits; ++length) {
    excess += static_cast<std::uint64_t>(of_length[length]) << (kMostCodeBits - length);
  }
  excess -= std::uint64_t{1} << kMostCodeBits;
  for (; excess > 0; --excess) {
    std::size_t length = kMostCodeBits - 1;
    while (of_length[length] == 0) --length;
    --of_length[length];
    of_length[length + 1] += 2;
    --of_length[kMostCodeBits];
  }
}

std::uint32_t reversed(std::uint32_t code, int bits) {
  std::uint32_t out = 0;
  for (int i = 0; i < bits; ++i) out |= ((code >> i) & 1U) << (bits - 1 - i);
  return out;
}

}  // namespace

void count_symbols(const std::uint8_t* symbols, std::int64_t count, SymbolCounts& counts) {
  // Equal neighbours would wait for each other's count in one array.
  std::array<SymbolCounts, 4> parts{};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) ++parts[k][symbols[i + static_cast<std::int64_t>(k)]];
  }
  for (; i < count; ++i) ++parts[0][symbols[i]];
  for (std::size_t s = 0; s < kMostSymbols; ++s) {
    counts[s] += parts[0][s] + parts[1][s] + parts[2][s] + parts[3][s];
  }
}

void code_lengths(const SymbolCounts& counts, CodeLengths& lengths) {
  Sorted leaves;
  std::size_t count = 0;
  for (std::size_t s = 0; s < kMostSymbols; ++s) {
    if (counts[s] > 0) leaves[count++] = {counts[s], static_cast<std::uint16_t>(s)};
  }
  std::sort(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(count),
            [](const CountedSymbol& a, const CountedSymbol& b) {
              return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
            });
  counts_to_depths(leaves, count);
  LengthCounts of_length{};
  for (std::size_t i = 0; i < count; ++i) ++of_length[static_cast<std::size_t>(leaves[i].count)];
  const auto longest = static_cast<std::size_t>(leaves[0].count);
  if (longest > kMostCodeBits) limit_lengths(of_length, longest);
  lengths.fill(0);
  // The rarest symbols get the longest codes.
  std::size_t next = 0;
  for (std::size_t length = kMostCodeBits; length > 0; --length) {
    for (std::uint32_t i = 0; i < of_length[length]; ++i) {
      lengths[leaves[next++].symbol] = static_cast<std::uint8_t>(length);
    }
  }
}

std::int64_t most_segment_bytes(const SymbolCounts& counts, const CodeLengths& lengths,
                                std::int64_t symbols, int spare_bits) {
  std::int64_t bits = symbols * spare_bits;
  for (std::size_t s = 0; s < kMostSymbols; ++s) {
    bits += static_cast<std::int64_t>(counts[s]) * lengths[s];
  }
  const std::int64_t segments = (symbols + kSegmentSymbols - 1) / kSegmentSymbols;
  return bits / 8 + segments + 2 * (segments - 1);
}

std::byte* write_lengths(const CodeLengths& lengths, std::int64_t count, std::byte* out) {
  BitWriter writer(out);
  for (std::int64_t s = 0; s < count; ++s) writer.put(lengths[static_cast<std::size_t>(s)], 4);
  return writer.end();
}

void read_lengths(ByteReader& reader, std::int64_t count, CodeLengths& lengths) {
  lengths.fill(0);
  const auto bytes = reader.take_bytes(static_cast<std::uint64_t>((count + 1) / 2));
  if (reader.failed()) return;
  BitReader bits(bytes);
  for (std::int64_t s = 0; s < count; ++s) {
    lengths[static_cast<std::size_t>(s)] = static_cast<std::uint8_t>(bits.take(4));
  }
}

EncodeTable::EncodeTable(const CodeLengths& lengths) {
  std::uint32_t code = 0;
  for (int length = 1; length <= kMostCodeBits; ++length) {
    for (std::size_t s = 0; s < kMostSymbols; ++s) {
      if (lengths[s] != length) continue;
      code_and_length[s] = reversed(code++, length) | (static_cast<std::uint32_t>(length) << 16);
    }
    code <<= 1;
  }
}

}  // namespace shardscope::engine
