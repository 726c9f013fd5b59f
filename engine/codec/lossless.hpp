#pragma once
// zstd (level 1) and LZ4 without allocations: their state lies in the scratch.

#include "engine/codec/codec_body.hpp"

namespace shardscope::engine {

/// What the larger of the compressors' states needs.
[[nodiscard]] std::int64_t lossless_state_bytes();

[[nodiscard]] std::byte* encode_lossless(const BodyInput& input, BodyOutput& output);
[[nodiscard]] PayloadFault decode_lossless(const BodyReader& reader);

}  // namespace shardscope::engine
