#pragma once
// What the codecs with a bound share: the codes of a chunk with its escapes, and the way back.

#include "engine/codec/codec_body.hpp"
#include "engine/codec/quantizer.hpp"

namespace shardscope::engine {

/// Codes in the scratch, one a value of `values`: the chunk's own, or its distinct rows.
struct QuantizedChunk {
  const float* values = nullptr;
  ChunkShape shape;
  Quantizer quantizer;
  CodeArray codes;
  Escapes escapes;
};

/// Quantizes chunk.values. False where no step holds the bound, or more values escape than there
/// is room for.
[[nodiscard]] bool quantize_chunk(const CodecSpec& spec, const CodecScratch& scratch,
                                  QuantizedChunk& chunk);

/// Rows that hold an escape, in scratch.escaped_rows(); returns how many. Rows of equal codes
/// differ where their escapes do, so these are never taken for equal.
[[nodiscard]] std::int64_t collect_escaped_rows(const QuantizedChunk& chunk,
                                                const CodecScratch& scratch);

/// Numbers the rows of codes, in scratch.code_index() with scratch.first_rows(); moves the distinct
/// ones to the front. Returns how many there are.
[[nodiscard]] std::int64_t number_codes(const CodecScratch& scratch, QuantizedChunk& chunk);

/// The step before the body, where the bound is relative.
[[nodiscard]] std::byte* write_step(const BodyInput& input, const Quantizer& quantizer,
                                    BodyOutput& output);
[[nodiscard]] PayloadFault read_step(const BodyReader& reader, float& step);

/// Count, positions and values.
[[nodiscard]] std::int64_t escape_bytes(const Escapes& escapes);
[[nodiscard]] std::byte* write_escapes(const Escapes& escapes, const std::uint32_t* places,
                                       const float* values, std::byte* out);

/// Escapes in a payload: positions ascend and lie below `limit`.
struct ReadEscapes {
  const std::byte* positions = nullptr;
  const std::byte* values = nullptr;
  std::int64_t count = 0;

  [[nodiscard]] std::uint32_t position(std::int64_t i) const {
    return load_le<std::uint32_t>(positions + 4 * i);
  }
  [[nodiscard]] float value(std::int64_t i) const { return load_le<float>(values + 4 * i); }
};

[[nodiscard]] PayloadFault read_escapes(ByteReader& reader, std::int64_t limit,
                                        ReadEscapes& escapes);

}  // namespace shardscope::engine
