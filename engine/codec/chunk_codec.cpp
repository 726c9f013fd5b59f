#include "engine/codec/chunk_codec.hpp"

#include <cstring>

#include "engine/codec/codec_body.hpp"
#include "engine/codec/crc32c.hpp"
#include "engine/codec/lossless.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kChecksumBytes = 4;

std::byte* encode_body(const BodyInput& input, BodyOutput& output) {
  switch (input.spec.kind) {
    case CodecKind::raw:
      return nullptr;
    case CodecKind::fp16:
    case CodecKind::bf16:
      return encode_halves(input, output);
    case CodecKind::row_int8:
    case CodecKind::row_int4:
      return encode_row_scaled(input, output);
    case CodecKind::fixed:
    case CodecKind::dedup_fixed:
    case CodecKind::dedup_huffman:
      return encode_sections(input, output);
    case CodecKind::vector_lz:
      return encode_tokens(input, output);
    case CodecKind::constant:
      return encode_constant(input, output);
    case CodecKind::zstd:
    case CodecKind::lz4:
      return encode_lossless(input, output);
  }
  return nullptr;
}

PayloadFault decode_own(const BodyReader& reader) {
  switch (reader.spec.kind) {
    case CodecKind::fp16:
    case CodecKind::bf16:
      return decode_halves(reader);
    case CodecKind::row_int8:
    case CodecKind::row_int4:
      return decode_row_scaled(reader);
    case CodecKind::constant:
      return decode_constant(reader);
    case CodecKind::zstd:
    case CodecKind::lz4:
      return decode_lossless(reader);
    default:
      return "has a body that its codec does not make";
  }
}

bool makes_sections(CodecKind kind) {
  return kind == CodecKind::fixed || kind == CodecKind::dedup_fixed ||
         kind == CodecKind::dedup_huffman;
}

PayloadFault decode_body(const BodyReader& reader) {
  switch (reader.tag.body) {
    case BodyForm::values: {
      const auto bytes =
          reader.bytes.take_bytes(4 * static_cast<std::uint64_t>(reader.shape.values()));
      if (reader.bytes.failed()) return "ends inside its values";
      std::memcpy(reader.out, bytes.data(), bytes.size());
      return nullptr;
    }
    case BodyForm::sections:
      return makes_sections(reader.spec.kind) ? decode_sections(reader)
                                              : "has a body that its codec does not make";
    case BodyForm::tokens:
      return reader.spec.kind == CodecKind::vector_lz ? decode_tokens(reader)
                                                      : "has a body that its codec does not make";
    case BodyForm::own:
      return decode_own(reader);
  }
  return "has a body of an unknown form";
}

void check_fits(const ChunkShape& shape, const CodecScratch& scratch) {
  SHARDSCOPE_CHECK(shape.rows >= 0 && shape.dim >= 0 && shape.values() <= scratch.max_values() &&
                       shape.rows <= scratch.max_rows(),
                   "a chunk larger than the codec's memory was sized for");
}

}  // namespace

std::int64_t max_payload_bytes(std::int64_t values) {
  return values == 0 ? 0 : kChunkHeaderBytes + 4 * values;
}

std::int64_t encode_room_bytes(std::int64_t values) {
  return kChunkHeaderBytes + 4 * values + kWriterSlack;
}

std::int64_t encode_chunk(const CodecSpec& spec, const float* values, const ChunkShape& shape,
                          const CodecScratch& scratch, std::span<std::byte> out) {
  check_fits(shape, scratch);
  if (shape.values() == 0) return 0;
  SHARDSCOPE_CHECK(static_cast<std::int64_t>(out.size()) >= encode_room_bytes(shape.values()),
                   "no room for the longest payload");
  const BodyInput input{spec, values, shape, scratch};
  BodyOutput output{out.data() + kChunkHeaderBytes, 4 * shape.values(), {}};
  std::byte* end = encode_body(input, output);
  if (end == nullptr) {
    output.tag = {};
    std::memcpy(output.at, values, static_cast<std::size_t>(output.room));
    end = output.at + output.room;
  }
  out[kChecksumBytes] = static_cast<std::byte>(output.tag.packed());
  const std::int64_t bytes = end - out.data();
  store_le(out.data(),
           crc32c(out.subspan(kChecksumBytes, static_cast<std::size_t>(bytes - kChecksumBytes))));
  return bytes;
}

PayloadFault decode_chunk(const CodecSpec& spec, std::span<const std::byte> payload,
                          const ChunkShape& shape, const CodecScratch& scratch, float* out) {
  check_fits(shape, scratch);
  if (shape.values() == 0) return payload.empty() ? nullptr : "holds values of an empty chunk";
  ByteReader reader(payload);
  const auto checksum = reader.take<std::uint32_t>();
  if (reader.failed() || reader.rest().empty()) return "is shorter than its header";
  if (checksum != crc32c(reader.rest())) return "has a wrong checksum";
  const PayloadTag tag = PayloadTag::unpacked(reader.take<std::uint8_t>());
  if (const PayloadFault fault = decode_body({spec, shape, scratch, tag, reader, out}))
    return fault;
  if (reader.failed()) return "ends too early";
  return reader.rest().empty() ? nullptr : "has bytes behind its end";
}

}  // namespace shardscope::engine
