#pragma once
// Encodes and decodes a chunk: rows x dim values of one table on their way to one rank. A payload
// is a CRC-32C over what follows it (4 bytes), a tag that says which forms were chosen (1 byte),
// for a relative bound the step (4 bytes), and the body; docs/compression.md describes it. Shape,
// codec and bound are not repeated: both ends know them. With the exchanged size (4 bytes) that is
// 13 bytes a chunk.
//
// Equal input gives equal bytes on every machine. A payload that would be longer than the values
// is the values themselves. A chunk without values has an empty payload.

#include <cstdint>
#include <span>

#include "engine/codec/bit_io.hpp"
#include "engine/codec/codec_kind.hpp"
#include "engine/codec/scratch.hpp"

namespace shardscope::engine {

inline constexpr std::int64_t kChunkHeaderBytes = 5;

/// Bytes a chunk is told by: its header and the size that ranks exchange beforehand.
inline constexpr std::int64_t kExchangedSizeBytes = 4;

/// Shape of a chunk. Rows follow each other without gaps.
struct ChunkShape {
  std::int64_t rows = 0;
  std::int64_t dim = 0;

  [[nodiscard]] std::int64_t values() const { return rows * dim; }
  friend bool operator==(const ChunkShape&, const ChunkShape&) = default;
};

/// Longest payload of so many values, whatever the codec.
[[nodiscard]] std::int64_t max_payload_bytes(std::int64_t values);

/// Room that encode_chunk needs at `out`: it may touch a little more than it returns.
[[nodiscard]] std::int64_t encode_room_bytes(std::int64_t values);

/// Returns the payload's bytes. The shape must fit the scratch, `out` encode_room_bytes.
[[nodiscard]] std::int64_t encode_chunk(const CodecSpec& spec, const float* values,
                                        const ChunkShape& shape, const CodecScratch& scratch,
                                        std::span<std::byte> out);

/// Fills `out` with the chunk's values. Whatever the payload holds, nothing else is written and
/// nothing beyond it read; a fault says what is wrong with it, and `out` is then undefined.
[[nodiscard]] PayloadFault decode_chunk(const CodecSpec& spec, std::span<const std::byte> payload,
                                        const ChunkShape& shape, const CodecScratch& scratch,
                                        float* out);

}  // namespace shardscope::engine
