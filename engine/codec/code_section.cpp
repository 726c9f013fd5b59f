#include "engine/codec/code_section.hpp"

#include <algorithm>
#include <cstring>

#include "engine/codec/planes.hpp"
#include "engine/codec/quantizer.hpp"

namespace shardscope::engine {
namespace {

constexpr std::uint32_t zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}

constexpr std::int32_t unzigzag(std::uint32_t value) {
  return static_cast<std::int32_t>((value >> 1) ^ (0U - (value & 1U)));
}

constexpr int spare_bits_of(std::uint32_t range) {
  return std::max(0, static_cast<int>(std::bit_width(range)) - 8);
}

constexpr std::int64_t alphabet_of(std::uint32_t range, int spare_bits) {
  return static_cast<std::int64_t>(range >> spare_bits) + 1;
}

CodePlan plan_planes(const CodeArray& codes, const CodecScratch& scratch) {
  std::uint8_t* widths = scratch.widths();
  const std::int64_t groups = groups_of(codes.count);
  const auto padding = static_cast<std::size_t>(groups * kGroup - codes.count);
  if (codes.bytes != nullptr) {
    std::memset(codes.bytes + codes.count, 0, padding);
    code_widths(codes.bytes, codes.count, widths);
  } else {
    std::memset(codes.words + codes.count, 0, padding * sizeof(std::int32_t));
    code_widths(codes.words, codes.count, widths);
  }
  int smallest = kMostWidth;
  int largest = 0;
  std::int64_t words = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    smallest = std::min<int>(smallest, widths[g]);
    largest = std::max<int>(largest, widths[g]);
    words += widths[g];
  }
  CodePlan plan;
  plan.smallest_width = smallest;
  plan.field_bits = bits_for(static_cast<std::uint64_t>(largest - smallest + 1));
  plan.bytes = 1 + (groups * plan.field_bits + 7) / 8 + 4 * words;
  return plan;
}

/// Counts by offset from the smallest code, spare bits cut off.
void count_offsets(const CodeArray& codes, CodePlan& plan, SymbolCounts& counts) {
  if (codes.bytes != nullptr) {
    SymbolCounts of_byte{};
    count_symbols(reinterpret_cast<const std::uint8_t*>(codes.bytes), codes.count, of_byte);
    std::int32_t low = -128;
    std::int32_t high = 127;
    while (of_byte[static_cast<std::uint8_t>(low)] == 0) ++low;
    while (of_byte[static_cast<std::uint8_t>(high)] == 0) --high;
    plan.low = low;
    plan.range = static_cast<std::uint32_t>(high - low);
    for (std::uint32_t s = 0; s <= plan.range; ++s) {
      counts[s] = of_byte[static_cast<std::uint8_t>(low + static_cast<std::int32_t>(s))];
    }
    return;
  }
  const auto [low, high] = std::minmax_element(codes.words, codes.words + codes.count);
  plan.low = *low;
  plan.range = static_cast<std::uint32_t>(*high - *low);
  plan.spare_bits = spare_bits_of(plan.range);
  for (std::int64_t i = 0; i < codes.count; ++i) {
    ++counts[static_cast<std::uint32_t>(codes.words[i] - plan.low) >> plan.spare_bits];
  }
}

CodePlan plan_huffman(const CodeArray& codes) {
  CodePlan plan;
  plan.form = CodeForm::huffman;
  SymbolCounts counts{};
  count_offsets(codes, plan, counts);
  plan.bytes = varint_bytes(zigzag(plan.low)) + varint_bytes(plan.range);
  if (plan.range == 0) return plan;
  code_lengths(counts, plan.lengths);
  plan.bytes += (alphabet_of(plan.range, plan.spare_bits) + 1) / 2 +
                most_segment_bytes(counts, plan.lengths, codes.count, plan.spare_bits);
  return plan;
}

std::byte* write_planes(const CodePlan& plan, const CodeArray& codes, const CodecScratch& scratch,
                        std::byte* out) {
  const std::uint8_t* widths = scratch.widths();
  *out++ = static_cast<std::byte>(plan.smallest_width | (plan.field_bits << 5));
  BitWriter fields(out);
  for (std::int64_t g = 0; g < groups_of(codes.count); ++g) {
    fields.put(static_cast<std::uint64_t>(widths[g] - plan.smallest_width), plan.field_bits);
  }
  out = fields.end();
  if (codes.bytes != nullptr) {
    pack_planes(codes.bytes, codes.count, widths, out);
  } else {
    pack_planes(codes.words, codes.count, widths, out);
  }
  std::int64_t words = 0;
  for (std::int64_t g = 0; g < groups_of(codes.count); ++g) words += widths[g];
  return out + 4 * words;
}

std::byte* write_huffman(const CodePlan& plan, const CodeArray& codes, std::byte* out) {
  out = put_varint(out, zigzag(plan.low));
  out = put_varint(out, plan.range);
  if (plan.range == 0) return out;
  out = write_lengths(plan.lengths, alphabet_of(plan.range, plan.spare_bits), out);
  EncodeTable table(plan.lengths);
  if (codes.bytes == nullptr) {
    return encode_wide(table, codes.words, codes.count, plan.low, plan.spare_bits, out);
  }
  // The bytes themselves find their codes: the table is turned by the smallest one.
  std::rotate(table.code_and_length.begin(),
              table.code_and_length.begin() + static_cast<std::uint8_t>(-plan.low),
              table.code_and_length.end());
  return encode_symbols(table, reinterpret_cast<const std::uint8_t*>(codes.bytes), codes.count,
                        out);
}

PayloadFault read_planes(ByteReader& reader, std::int64_t count, const CodecScratch& scratch,
                         CodeArray& codes) {
  const auto head = reader.take<std::uint8_t>();
  const int smallest = head & 31;
  const int field_bits = head >> 5;
  const std::int64_t groups = groups_of(count);
  const auto packed = reader.take_bytes(static_cast<std::uint64_t>((groups * field_bits + 7) / 8));
  if (reader.failed()) return "ends inside its widths";
  std::uint8_t* widths = scratch.widths();
  BitReader fields(packed);
  int largest = 0;
  std::uint64_t words = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    const int width = smallest + static_cast<int>(fields.take(field_bits));
    widths[g] = static_cast<std::uint8_t>(width);
    largest = std::max(largest, width);
    words += static_cast<std::uint64_t>(width);
  }
  if (largest > kMostWidth) return "has codes of more than 22 bits";
  const auto planes = reader.take_bytes(4 * words);
  if (reader.failed()) return "ends inside its bit planes";
  if (largest <= 8) {
    codes.bytes = scratch.bytes();
    unpack_planes(planes.data(), widths, count, codes.bytes);
  } else {
    codes.words = scratch.words();
    unpack_planes(planes.data(), widths, count, codes.words);
  }
  return nullptr;
}

PayloadFault read_huffman(ByteReader& reader, std::int64_t count, const CodecScratch& scratch,
                          CodeArray& codes) {
  const std::int32_t low = unzigzag(reader.take_varint());
  const std::uint32_t range = reader.take_varint();
  if (reader.failed()) return "ends inside its range of codes";
  if (low < -kLargestCode32 || low > kLargestCode32 ||
      static_cast<std::int64_t>(low) + range > kLargestCode32) {
    return "has codes beyond 2^20";
  }
  const std::int32_t high = low + static_cast<std::int32_t>(range);
  const bool narrow = low >= -128 && high <= 127;
  if (narrow) {
    codes.bytes = scratch.bytes();
  } else {
    codes.words = scratch.words();
  }
  if (range == 0) {
    if (narrow) {
      std::memset(codes.bytes, low, static_cast<std::size_t>(count));
    } else {
      std::fill_n(codes.words, count, low);
    }
    return nullptr;
  }
  const int spare_bits = spare_bits_of(range);
  CodeLengths lengths;
  read_lengths(reader, alphabet_of(range, spare_bits), lengths);
  if (reader.failed()) return "ends inside its code lengths";
  DecodeTable table;
  if (const PayloadFault fault =
          table.build(lengths, narrow ? static_cast<std::uint8_t>(low) : 0)) {
    return fault;
  }
  std::size_t taken = 0;
  const PayloadFault fault =
      narrow ? table.decode_symbols(reader.rest(), count,
                                    reinterpret_cast<std::uint8_t*>(codes.bytes), taken)
             : table.decode_wide(reader.rest(), count, low, spare_bits, codes.words, taken);
  if (fault != nullptr) return fault;
  reader.take_bytes(taken);
  return nullptr;
}

}  // namespace

CodePlan plan_codes(const CodeArray& codes, const CodecScratch& scratch, bool allow_huffman) {
  const CodePlan planes = plan_planes(codes, scratch);
  if (!allow_huffman) return planes;
  const CodePlan huffman = plan_huffman(codes);
  return huffman.bytes < planes.bytes ? huffman : planes;
}

std::byte* write_codes(const CodePlan& plan, const CodeArray& codes, const CodecScratch& scratch,
                       std::byte* out) {
  switch (plan.form) {
    case CodeForm::planes:
      return write_planes(plan, codes, scratch, out);
    case CodeForm::huffman:
      return write_huffman(plan, codes, out);
    case CodeForm::words:
      std::memcpy(out, codes.words, static_cast<std::size_t>(4 * codes.count));
      return out + 4 * codes.count;
  }
  return out;
}

PayloadFault read_codes(CodeForm form, ByteReader& reader, std::int64_t count,
                        const CodecScratch& scratch, CodeArray& codes) {
  codes.count = count;
  switch (form) {
    case CodeForm::planes:
      return read_planes(reader, count, scratch, codes);
    case CodeForm::huffman:
      return read_huffman(reader, count, scratch, codes);
    case CodeForm::words: {
      const auto values = reader.take_bytes(static_cast<std::uint64_t>(4 * count));
      if (reader.failed()) return "ends inside its values";
      codes.words = scratch.words();
      std::memcpy(codes.words, values.data(), values.size());
      return nullptr;
    }
  }
  return "has codes of an unknown form";
}

}  // namespace shardscope::engine
