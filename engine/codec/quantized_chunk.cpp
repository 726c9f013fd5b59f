#include "engine/codec/quantized_chunk.hpp"

#include <cstring>

#include "engine/codec/row_numbers.hpp"

namespace shardscope::engine {

bool quantize_chunk(const CodecSpec& spec, const CodecScratch& scratch, QuantizedChunk& chunk) {
  const std::int64_t count = chunk.shape.values();
  const FiniteRange range = finite_range(chunk.values, count);
  chunk.quantizer = quantizer_of(absolute_bound(spec, range));
  if (!chunk.quantizer.usable()) return false;
  chunk.codes.count = count;
  chunk.escapes = {scratch.escapes(), CodecScratch::max_escapes(count), 0};
  if (fits_8_bits(chunk.quantizer, range)) {
    chunk.codes.bytes = scratch.bytes();
    return quantize(chunk.quantizer, chunk.values, count, chunk.codes.bytes, chunk.escapes);
  }
  chunk.codes.words = scratch.words();
  return quantize(chunk.quantizer, chunk.values, count, chunk.codes.words, chunk.escapes);
}

std::int64_t collect_escaped_rows(const QuantizedChunk& chunk, const CodecScratch& scratch) {
  std::int64_t rows = 0;
  std::uint32_t* out = scratch.escaped_rows();
  for (std::int64_t i = 0; i < chunk.escapes.count; ++i) {
    const auto row = static_cast<std::uint32_t>(chunk.escapes.positions[i] / chunk.shape.dim);
    if (rows == 0 || out[rows - 1] != row) out[rows++] = row;
  }
  return rows;
}

std::int64_t number_codes(const CodecScratch& scratch, QuantizedChunk& chunk) {
  const std::int64_t apart = collect_escaped_rows(chunk, scratch);
  const std::int64_t row_bytes =
      chunk.codes.bytes != nullptr ? chunk.shape.dim : 4 * chunk.shape.dim;
  auto* codes = reinterpret_cast<std::byte*>(scratch.words());
  const ByteRows rows{codes, row_bytes, chunk.shape.rows};
  const std::int64_t distinct =
      number_rows(rows, scratch.escaped_rows(), apart, {scratch.row_slots(), scratch.row_hashes()},
                  {scratch.code_index(), scratch.first_rows()});
  gather_first(rows, scratch.first_rows(), distinct, codes);
  chunk.codes.count = distinct * chunk.shape.dim;
  return distinct;
}

std::byte* write_step(const BodyInput& input, const Quantizer& quantizer, BodyOutput& output) {
  if (!input.spec.relative) return output.at;
  output.tag.step = true;
  store_le(output.at, quantizer.step);
  return output.at + sizeof(quantizer.step);
}

PayloadFault read_step(const BodyReader& reader, float& step) {
  if (reader.tag.step != reader.spec.relative) return "has a step where none is due, or none";
  if (!reader.tag.step) {
    step = quantizer_of(reader.spec.bound).step;
    return step > 0 ? nullptr : "has codes for a bound that no step holds";
  }
  step = reader.bytes.take<float>();
  return is_step(step) ? nullptr : "has an impossible step";
}

std::int64_t escape_bytes(const Escapes& escapes) {
  if (escapes.count == 0) return 0;
  return varint_bytes(static_cast<std::uint32_t>(escapes.count)) + 8 * escapes.count;
}

std::byte* write_escapes(const Escapes& escapes, const std::uint32_t* places, const float* values,
                         std::byte* out) {
  if (escapes.count == 0) return out;
  out = put_varint(out, static_cast<std::uint32_t>(escapes.count));
  for (std::int64_t i = 0; i < escapes.count; ++i, out += 4) store_le(out, places[i]);
  for (std::int64_t i = 0; i < escapes.count; ++i, out += 4) {
    std::memcpy(out, values + escapes.positions[i], sizeof(float));
  }
  return out;
}

PayloadFault read_escapes(ByteReader& reader, std::int64_t limit, ReadEscapes& escapes) {
  escapes.count = reader.take_varint();
  const std::uint64_t bytes = 4 * static_cast<std::uint64_t>(escapes.count);
  escapes.positions = reader.take_bytes(bytes).data();
  escapes.values = reader.take_bytes(bytes).data();
  if (reader.failed() || escapes.count == 0) return "ends inside its escaped values";
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < escapes.count; ++i) {
    const std::int64_t position = escapes.position(i);
    if (position < next || position >= limit) return "has an escaped value at a wrong place";
    next = position + 1;
  }
  return nullptr;
}

}  // namespace shardscope::engine
