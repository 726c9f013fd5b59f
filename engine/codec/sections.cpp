// Bodies of fixed, dedup-fixed and dedup-huffman.

#include <cstring>

#include "engine/codec/quantized_chunk.hpp"
#include "engine/codec/row_numbers.hpp"

namespace shardscope::engine {
namespace {

bool finds_equal_rows(CodecKind kind) {
  return kind != CodecKind::fixed;
}

/// The chunk's distinct rows of values, and which of them stands at each place in
/// scratch.row_index(). Rows of equal bits have equal codes: only these need be looked at.
void keep_distinct_values(const BodyInput& input, QuantizedChunk& chunk) {
  const CodecScratch& scratch = input.scratch;
  const ByteRows rows{reinterpret_cast<const std::byte*>(input.values), 4 * input.shape.dim,
                      input.shape.rows};
  chunk.shape.rows = number_rows(rows, nullptr, 0, {scratch.row_slots(), scratch.row_hashes()},
                                 {scratch.row_index(), scratch.first_rows()});
  if (chunk.shape.rows == input.shape.rows) return;
  gather_first(rows, scratch.first_rows(), chunk.shape.rows,
               reinterpret_cast<std::byte*>(scratch.values()));
  chunk.values = scratch.values();
}

/// Values in place of codes, where no step holds the bound.
void take_values(const CodecScratch& scratch, QuantizedChunk& chunk) {
  chunk.codes = {nullptr, scratch.words(), chunk.shape.values()};
  chunk.escapes.count = 0;
  std::memcpy(chunk.codes.words, chunk.values, static_cast<std::size_t>(4 * chunk.codes.count));
}

/// Merges rows whose codes are equal though their values are not.
std::int64_t keep_distinct_codes(const BodyInput& input, QuantizedChunk& chunk) {
  const CodecScratch& scratch = input.scratch;
  const std::int64_t distinct = number_codes(scratch, chunk);
  std::uint32_t* index = scratch.row_index();
  for (std::int64_t r = 0; r < input.shape.rows; ++r) index[r] = scratch.code_index()[index[r]];
  return distinct;
}

/// Where the escapes stand among the distinct rows. The list of escaped rows has served its turn.
const std::uint32_t* places_of_escapes(const BodyInput& input, const QuantizedChunk& chunk,
                                       bool dedups) {
  const Escapes& escapes = chunk.escapes;
  if (!dedups) return escapes.positions;
  std::uint32_t* places = input.scratch.escaped_rows();
  const std::int64_t dim = chunk.shape.dim;
  for (std::int64_t i = 0; i < escapes.count; ++i) {
    const std::int64_t position = escapes.positions[i];
    const std::int64_t row = input.scratch.code_index()[position / dim];
    places[i] = static_cast<std::uint32_t>(row * dim + position % dim);
  }
  return places;
}

void apply_escapes(const BodyReader& reader, const ReadEscapes& escapes) {
  const std::int64_t dim = reader.shape.dim;
  if (reader.tag.index == IndexForm::none) {
    for (std::int64_t i = 0; i < escapes.count; ++i) {
      reader.out[escapes.position(i)] = escapes.value(i);
    }
    return;
  }
  for (std::int64_t r = 0; r < reader.shape.rows; ++r) {
    const std::int64_t first = reader.scratch.row_index()[r] * dim;
    std::int64_t low = 0;
    for (std::int64_t high = escapes.count; low < high;) {
      const std::int64_t middle = (low + high) / 2;
      if (escapes.position(middle) < first) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < escapes.count && escapes.position(low) < first + dim; ++low) {
      reader.out[r * dim + escapes.position(low) - first] = escapes.value(low);
    }
  }
}

void copy_rows(const BodyReader& reader, const std::uint32_t* index, const CodeArray& codes) {
  const auto row_bytes = static_cast<std::size_t>(4 * reader.shape.dim);
  for (std::int64_t r = 0; r < reader.shape.rows; ++r) {
    const std::int64_t from = index == nullptr ? r : index[r];
    std::memcpy(reader.out + r * reader.shape.dim, codes.words + from * reader.shape.dim,
                row_bytes);
  }
}

/// Whether the codec makes such payloads at all.
bool is_due(CodecKind kind, const PayloadTag& tag) {
  const bool huffman = tag.index == IndexForm::huffman || tag.codes == CodeForm::huffman;
  if (huffman && kind != CodecKind::dedup_huffman) return false;
  return tag.index == IndexForm::none || finds_equal_rows(kind);
}

/// Null, and nothing written, where the body would have more bytes than `limit`.
std::byte* encode_rows(const BodyInput& input, bool dedups, std::int64_t limit,
                       BodyOutput& output) {
  const CodecScratch& scratch = input.scratch;
  const std::int64_t rows = input.shape.rows;
  const bool allow_huffman = input.spec.kind == CodecKind::dedup_huffman;
  QuantizedChunk chunk;
  chunk.values = input.values;
  chunk.shape = input.shape;
  if (dedups) keep_distinct_values(input, chunk);
  const bool quantized = quantize_chunk(input.spec, scratch, chunk);
  if (!quantized) {
    if (!dedups) return nullptr;
    take_values(scratch, chunk);
  }
  const std::int64_t distinct =
      dedups && quantized ? keep_distinct_codes(input, chunk) : chunk.shape.rows;
  const IndexPlan index = plan_index(scratch.row_index(), rows, distinct, allow_huffman);
  CodePlan codes;
  if (quantized) {
    codes = plan_codes(chunk.codes, scratch, allow_huffman);
  } else {
    codes.form = CodeForm::words;
    codes.bytes = 4 * chunk.codes.count;
  }
  const std::int64_t bytes = (input.spec.relative ? 4 : 0) +
                             varint_bytes(static_cast<std::uint32_t>(distinct)) + index.bytes +
                             codes.bytes + escape_bytes(chunk.escapes);
  if (bytes > limit) return nullptr;
  output.tag = {BodyForm::sections, index.form, codes.form, chunk.escapes.count > 0, false};
  std::byte* at = quantized ? write_step(input, chunk.quantizer, output) : output.at;
  if (index.form != IndexForm::none) {
    at = put_varint(at, static_cast<std::uint32_t>(distinct));
    at = write_index(index, scratch.row_index(), rows, distinct, scratch.narrow_index(), at);
  }
  at = write_codes(codes, chunk.codes, scratch, at);
  return write_escapes(chunk.escapes, places_of_escapes(input, chunk, dedups), chunk.values, at);
}

/// Rows of fewer columns may be shorter than an index: both ways are tried.
constexpr std::int64_t kWideRow = 8;

}  // namespace

std::byte* encode_sections(const BodyInput& input, BodyOutput& output) {
  const bool dedups = finds_equal_rows(input.spec.kind);
  if (!dedups || input.shape.dim >= kWideRow) {
    return encode_rows(input, dedups, output.room, output);
  }
  std::byte* const plain = encode_rows(input, false, output.room, output);
  const std::int64_t limit = plain == nullptr ? output.room : plain - output.at;
  std::byte* const merged = encode_rows(input, true, limit, output);
  return merged != nullptr ? merged : plain;
}

PayloadFault decode_sections(const BodyReader& reader) {
  if (!is_due(reader.spec.kind, reader.tag)) return "has a form that its codec does not make";
  const CodecScratch& scratch = reader.scratch;
  const ChunkShape& shape = reader.shape;
  const bool quantized = reader.tag.codes != CodeForm::words;
  float step = 0;
  if (quantized) {
    if (const PayloadFault fault = read_step(reader, step)) return fault;
  } else if (reader.tag.step || reader.tag.escapes) {
    return "has a step or escapes beside plain values";
  }
  std::int64_t distinct = shape.rows;
  const bool indexed = reader.tag.index != IndexForm::none;
  if (indexed) {
    distinct = reader.bytes.take_varint();
    if (distinct < 1 || distinct > shape.rows) return "has an impossible number of rows";
    if (const PayloadFault fault = read_index(reader.tag.index, reader.bytes, shape.rows, distinct,
                                              scratch.narrow_index(), scratch.row_index())) {
      return fault;
    }
  }
  CodeArray codes;
  const std::int64_t count = distinct * shape.dim;
  if (const PayloadFault fault =
          read_codes(reader.tag.codes, reader.bytes, count, scratch, codes)) {
    return fault;
  }
  const std::uint32_t* index = indexed ? scratch.row_index() : nullptr;
  if (!quantized) {
    copy_rows(reader, index, codes);
    return nullptr;
  }
  const bool narrow = codes.bytes != nullptr;
  const Expand expand{narrow ? static_cast<const void*>(codes.bytes) : codes.words,
                      index,
                      shape.rows,
                      shape.dim,
                      step,
                      reader.out};
  if (narrow) {
    expand_8(expand);
  } else {
    expand_32(expand);
  }
  if (!reader.tag.escapes) return nullptr;
  ReadEscapes escapes;
  if (const PayloadFault fault = read_escapes(reader.bytes, count, escapes)) return fault;
  apply_escapes(reader, escapes);
  return nullptr;
}

}  // namespace shardscope::engine
