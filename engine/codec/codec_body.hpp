#pragma once
// Bodies of payloads, behind the header. An encoder that would need more bytes than the values
// take returns null; the payload is then the values themselves.

#include <cstdint>

#include "engine/codec/chunk_codec.hpp"
#include "engine/codec/payload_tag.hpp"

namespace shardscope::engine {

struct BodyInput {
  CodecSpec spec;
  const float* values = nullptr;
  ChunkShape shape;
  const CodecScratch& scratch;
};

struct BodyOutput {
  std::byte* at = nullptr;
  std::int64_t room = 0;  ///< a body of more bytes is not wanted; kWriterSlack more may be touched
  PayloadTag tag;         ///< filled by the encoder
};

struct BodyReader {
  CodecSpec spec;
  ChunkShape shape;
  const CodecScratch& scratch;
  PayloadTag tag;
  ByteReader& bytes;
  float* out = nullptr;
};

/// fixed, dedup-fixed, dedup-huffman
[[nodiscard]] std::byte* encode_sections(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_sections(const BodyReader& reader);

/// vector-lz
[[nodiscard]] std::byte* encode_tokens(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_tokens(const BodyReader& reader);

/// fp16, bf16
[[nodiscard]] std::byte* encode_halves(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_halves(const BodyReader& reader);

/// row-int8, row-int4
[[nodiscard]] std::byte* encode_row_scaled(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_row_scaled(const BodyReader& reader);

/// const
[[nodiscard]] std::byte* encode_constant(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_constant(const BodyReader& reader);

}  // namespace shardscope::engine
