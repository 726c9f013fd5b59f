#pragma once
// Random chunks of every awkward kind, and a codec with its memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/codec/chunk_codec.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {

struct ChunkCase {
  std::string what;
  ChunkShape shape;
  std::vector<float> values;
};

/// Rows and columns from 1 to some hundreds; values of one of the kinds below, or a mix.
[[nodiscard]] ChunkCase random_chunk(Random& random);

/// Values at x = (q + 1/2) * step and its neighbours, where rounding decides: for quantizing within
/// the absolute bound.
[[nodiscard]] ChunkCase near_ties(Random& random, double bound);

/// Bounds: relative ones, absolute ones of every magnitude, 0.
[[nodiscard]] CodecSpec random_bound(Random& random, CodecKind kind);

struct Encoded {
  std::vector<std::byte> payload;
  std::vector<float> decoded;
  PayloadFault fault = nullptr;
};

/// Encodes and decodes with exactly the memory that is asked for.
[[nodiscard]] Encoded through(const CodecSpec& spec, const ChunkCase& chunk);

[[nodiscard]] std::vector<std::byte> encoded(const CodecSpec& spec, const ChunkCase& chunk);
[[nodiscard]] PayloadFault decoded(const CodecSpec& spec, std::span<const std::byte> payload,
                                   const ChunkShape& shape, std::vector<float>& out);

/// The absolute bound that the spec means for the chunk, computed here.
[[nodiscard]] double bound_of(const CodecSpec& spec, const ChunkCase& chunk);

/// A checksum that fits what follows it.
void mend_checksum(std::vector<std::byte>& payload);

}  // namespace shardscope::engine::testing
