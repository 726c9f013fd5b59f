#include "engine/codec/row_index.hpp"

#include <algorithm>

namespace shardscope::engine {
namespace {

std::int64_t flagged_bytes(const std::uint32_t* index, std::int64_t rows) {
  std::int64_t bits = rows;
  std::uint64_t seen = 0;
  int width = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (index[r] == seen) {
      width = bits_for(++seen);
    } else {
      bits += width;
    }
  }
  return (bits + 7) / 8;
}

std::byte* write_flagged(const std::uint32_t* index, std::int64_t rows, std::byte* out) {
  BitWriter flags(out);
  std::uint64_t seen = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool fresh = index[r] == seen;
    flags.put(fresh ? 1 : 0, 1);
    seen += fresh ? 1 : 0;
  }
  BitWriter repeats(out + (rows + 7) / 8);
  seen = 0;
  int width = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (index[r] == seen) {
      width = bits_for(++seen);
    } else {
      repeats.put(index[r], width);
    }
  }
  return repeats.end();
}

PayloadFault read_flagged(ByteReader& reader, std::int64_t rows, std::int64_t distinct,
                          std::uint32_t* index) {
  const auto flags = reader.take_bytes(static_cast<std::uint64_t>((rows + 7) / 8));
  if (reader.failed()) return "ends inside its index";
  BitReader repeats(reader.rest());
  std::uint32_t seen = 0;
  int width = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto byte = static_cast<unsigned>(flags[static_cast<std::size_t>(r / 8)]);
    if (((byte >> (r % 8)) & 1U) != 0) {
      index[r] = seen++;
      width = bits_for(seen);
      continue;
    }
    index[r] = static_cast<std::uint32_t>(repeats.take(width));
    if (index[r] >= seen) return "repeats a row that has not appeared";
  }
  if (repeats.overrun()) return "ends inside its index";
  if (seen != distinct) return "has an index with another number of rows than it states";
  reader.take_bytes(repeats.bytes_taken());
  return nullptr;
}

PayloadFault read_plain(ByteReader& reader, std::int64_t rows, std::int64_t distinct,
                        std::uint32_t* index) {
  const int width = bits_for(static_cast<std::uint64_t>(distinct));
  const auto bytes = reader.take_bytes(static_cast<std::uint64_t>((rows * width + 7) / 8));
  if (reader.failed()) return "ends inside its index";
  BitReader bits(bytes);
  std::uint32_t largest = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    index[r] = static_cast<std::uint32_t>(bits.take(width));
    largest = std::max(largest, index[r]);
  }
  return largest < distinct ? nullptr : "has an index beyond its rows";
}

PayloadFault read_huffman(ByteReader& reader, std::int64_t rows, std::int64_t distinct,
                          std::uint8_t* narrow, std::uint32_t* index) {
  if (distinct < 2 || distinct > static_cast<std::int64_t>(kMostSymbols)) {
    return "has a Huffman index of an impossible size";
  }
  CodeLengths lengths;
  read_lengths(reader, distinct, lengths);
  if (reader.failed()) return "ends inside its index";
  DecodeTable table;
  if (const PayloadFault fault = table.build(lengths, 0)) return fault;
  std::size_t taken = 0;
  if (const PayloadFault fault = table.decode_symbols(reader.rest(), rows, narrow, taken))
    return fault;
  reader.take_bytes(taken);
  for (std::int64_t r = 0; r < rows; ++r) index[r] = narrow[r];
  return nullptr;
}

}  // namespace

IndexPlan plan_index(const std::uint32_t* index, std::int64_t rows, std::int64_t distinct,
                     bool allow_huffman) {
  IndexPlan plan;
  if (distinct == rows) return plan;
  plan.form = IndexForm::plain;
  plan.bytes = (rows * bits_for(static_cast<std::uint64_t>(distinct)) + 7) / 8;
  if (const std::int64_t bytes = flagged_bytes(index, rows); bytes < plan.bytes) {
    plan.form = IndexForm::flagged;
    plan.bytes = bytes;
  }
  if (!allow_huffman || distinct < 2 || distinct > static_cast<std::int64_t>(kMostSymbols)) {
    return plan;
  }
  SymbolCounts counts{};
  for (std::int64_t r = 0; r < rows; ++r) ++counts[index[r]];
  CodeLengths lengths;
  code_lengths(counts, lengths);
  const std::int64_t bytes = (distinct + 1) / 2 + most_segment_bytes(counts, lengths, rows, 0);
  if (bytes < plan.bytes) plan = {IndexForm::huffman, bytes, lengths};
  return plan;
}

std::byte* write_index(const IndexPlan& plan, const std::uint32_t* index, std::int64_t rows,
                       std::int64_t distinct, std::uint8_t* narrow, std::byte* out) {
  switch (plan.form) {
    case IndexForm::none:
      return out;
    case IndexForm::plain: {
      BitWriter writer(out);
      const int width = bits_for(static_cast<std::uint64_t>(distinct));
      for (std::int64_t r = 0; r < rows; ++r) writer.put(index[r], width);
      return writer.end();
    }
    case IndexForm::flagged:
      return write_flagged(index, rows, out);
    case IndexForm::huffman: {
      for (std::int64_t r = 0; r < rows; ++r) narrow[r] = static_cast<std::uint8_t>(index[r]);
      out = write_lengths(plan.lengths, distinct, out);
      return encode_symbols(EncodeTable(plan.lengths), narrow, rows, out);
    }
  }
  return out;
}

PayloadFault read_index(IndexForm form, ByteReader& reader, std::int64_t rows,
                        std::int64_t distinct, std::uint8_t* narrow, std::uint32_t* index) {
  switch (form) {
    case IndexForm::none:
      return nullptr;
    case IndexForm::plain:
      return read_plain(reader, rows, distinct, index);
    case IndexForm::flagged:
      return read_flagged(reader, rows, distinct, index);
    case IndexForm::huffman:
      return read_huffman(reader, rows, distinct, narrow, index);
  }
  return "has an index of an unknown form";
}

}  // namespace shardscope::engine
