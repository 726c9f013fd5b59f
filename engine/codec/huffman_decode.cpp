#include <algorithm>
#include <cstring>

#include "engine/codec/huffman.hpp"

namespace shardscope::engine {
namespace {

/// Raw bits beside a code of 11: an offset has at most 22 bits, 8 of them in the symbol.
constexpr int kMostSpareBits = 14;

/// A segment with codes of the longest kind; a decoder led astray reads no further.
constexpr std::size_t kMostSegmentBytes =
    static_cast<std::size_t>(kSegmentSymbols) * (kMostCodeBits + kMostSpareBits) / 8 + 16;

/// A segment that may be read kMostSegmentBytes far: in place, or as a copy where it lies near the
/// end of the payload.
class ReadableSegment {
 public:
  void place(std::span<const std::byte> bytes) {
    if (bytes.size() >= kMostSegmentBytes) {
      at_ = bytes.data();
      return;
    }
    std::memcpy(copy_, bytes.data(), bytes.size());
    std::memset(copy_ + bytes.size(), 0, kMostSegmentBytes - bytes.size());
    at_ = copy_;
  }

  [[nodiscard]] const std::byte* data() const { return at_; }

 private:
  const std::byte* at_ = nullptr;
  std::byte copy_[kMostSegmentBytes];
};

struct Segment {
  const std::byte* at = nullptr;
  std::uint64_t position = 0;  ///< bits read
  std::int64_t begin = 0;      ///< symbols
  std::int64_t end = 0;

  [[nodiscard]] std::uint64_t window() const {
    return load_le<std::uint64_t>(at + (position >> 3)) >> (position & 7U);
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>((position + 7) / 8); }
};

/// Calls decode(segments, how many) for runs of up to four segments, once their places are known,
/// and holds each to its size.
template <class Decode>
PayloadFault walk_segments(std::span<const std::byte> bytes, std::int64_t count, std::size_t& taken,
                           const Decode& decode) {
  const std::int64_t segments = (count + kSegmentSymbols - 1) / kSegmentSymbols;
  ByteReader reader(bytes);
  const auto sizes =
      reader.take_bytes(static_cast<std::uint64_t>(2 * std::max<std::int64_t>(segments - 1, 0)));
  if (reader.failed()) return "ends inside the sizes of its segments";
  constexpr int kTogether = 4;
  ReadableSegment readable[kTogether];
  for (std::int64_t first = 0; first < segments; first += kTogether) {
    Segment run[kTogether];
    std::size_t expected[kTogether] = {};
    const int here = static_cast<int>(std::min<std::int64_t>(kTogether, segments - first));
    for (int k = 0; k < here; ++k) {
      readable[k].place(reader.rest());
      run[k] = {readable[k].data(), 0, (first + k) * kSegmentSymbols,
                std::min(count, (first + k + 1) * kSegmentSymbols)};
      if (first + k + 1 == segments) break;
      expected[k] = load_le<std::uint16_t>(sizes.data() + 2 * (first + k));
      reader.take_bytes(expected[k]);
      if (reader.failed()) return "ends inside a segment";
    }
    decode(run, here);
    for (int k = 0; k < here; ++k) {
      const bool last = first + k + 1 == segments;
      if (!last && run[k].bytes() != expected[k]) return "a segment has not the size it states";
      if (last) reader.take_bytes(run[k].bytes());
    }
  }
  if (reader.failed()) return "ends inside its last segment";
  taken = bytes.size() - reader.rest().size();
  return nullptr;
}

constexpr std::uint32_t symbol_bits(std::uint32_t entry) {
  return (entry >> 21) & 15U;
}

}  // namespace

PayloadFault DecodeTable::build(const CodeLengths& lengths, std::uint8_t first) {
  std::uint32_t kraft = 0;
  bits_ = 0;
  for (const std::uint8_t length : lengths) {
    if (length == 0) continue;
    if (length > kMostCodeBits) return "has a code longer than 11 bits";
    kraft += 1U << (kMostCodeBits - length);
    bits_ = std::max<int>(bits_, length);
  }
  if (kraft != 1U << kMostCodeBits) return "has code lengths that are no complete code";
  // Every index that ends in a symbol's code, as bits are read from the lowest up.
  std::array<std::uint16_t, std::size_t{1} << kMostCodeBits> single;  // symbol | length << 8
  const EncodeTable codes(lengths);
  const std::uint32_t size = 1U << bits_;
  for (std::uint32_t s = 0; s < kMostSymbols; ++s) {
    if (lengths[s] == 0) continue;
    const auto entry =
        static_cast<std::uint16_t>(((s + first) & 255U) | (std::uint32_t{lengths[s]} << 8));
    for (std::uint32_t i = codes.code_and_length[s] & 0xffffU; i < size; i += 1U << lengths[s]) {
      single[i] = entry;
    }
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t one = single[i];
    const std::uint32_t length = one >> 8;
    const std::uint32_t two = single[i >> length];
    const std::uint32_t both = length + (two >> 8);
    // The second symbol stands only where all of its bits were in the index.
    const bool pair = both <= static_cast<std::uint32_t>(bits_);
    entries_[i] = (one & 255U) | ((two & 255U) << 8) | ((pair ? both : length) << 16) |
                  (length << 21) | ((pair ? 2U : 1U) << 25);
  }
  return nullptr;
}

PayloadFault DecodeTable::decode_symbols(std::span<const std::byte> bytes, std::int64_t count,
                                         std::uint8_t* symbols, std::size_t& taken) const {
  const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
  // Four look-ups give at most eight symbols and take at most 44 of the 57 bits of a window.
  const auto step = [&](Segment& segment) {
    std::uint64_t window = segment.window();
    std::uint32_t used = 0;
    for (int look = 0; look < 4; ++look) {
      const std::uint32_t entry = entries_[window & mask];
      store_le(symbols + segment.begin, static_cast<std::uint16_t>(entry));
      const std::uint32_t bits = (entry >> 16) & 31U;
      segment.begin += entry >> 25;
      window >>= bits;
      used += bits;
    }
    segment.position += used;
  };
  const auto finish = [&](Segment& segment) {
    while (segment.end - segment.begin >= 8) step(segment);
    for (; segment.begin < segment.end; ++segment.begin) {
      const std::uint32_t entry = entries_[segment.window() & mask];
      symbols[segment.begin] = static_cast<std::uint8_t>(entry);
      segment.position += symbol_bits(entry);
    }
  };
  return walk_segments(bytes, count, taken, [&](Segment* run, int segments) {
    if (segments == 4) {
      Segment a = run[0], b = run[1], c = run[2], d = run[3];
      while (a.end - a.begin >= 8 && b.end - b.begin >= 8 && c.end - c.begin >= 8 &&
             d.end - d.begin >= 8) {
        step(a);
        step(b);
        step(c);
        step(d);
      }
      run[0] = a, run[1] = b, run[2] = c, run[3] = d;
    }
    for (int k = 0; k < segments; ++k) finish(run[k]);
  });
}

PayloadFault DecodeTable::decode_wide(std::span<const std::byte> bytes, std::int64_t count,
                                      std::int32_t low, int spare_bits, std::int32_t* codes,
                                      std::size_t& taken) const {
  if (spare_bits > kMostSpareBits) return "has offsets of too many bits";
  const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
  const std::uint64_t spare_mask = (std::uint64_t{1} << spare_bits) - 1;
  return walk_segments(bytes, count, taken, [&](Segment* run, int segments) {
    for (int k = 0; k < segments; ++k) {
      Segment segment = run[k];
      for (; segment.begin < segment.end; ++segment.begin) {
        const std::uint64_t window = segment.window();
        const std::uint32_t entry = entries_[window & mask];
        const std::uint32_t length = symbol_bits(entry);
        const auto offset = ((entry & 255U) << spare_bits) |
                            static_cast<std::uint32_t>((window >> length) & spare_mask);
        codes[segment.begin] = low + static_cast<std::int32_t>(offset);
        segment.position += length + static_cast<std::uint32_t>(spare_bits);
      }
      run[k] = segment;
    }
  });
}

}  // namespace shardscope::engine
