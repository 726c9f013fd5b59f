#pragma once
// What a codec does to one chunk: bytes, error and time, measured by encoding and decoding it.

#include "engine/codec/chunk_codec.hpp"

namespace shardscope::engine {

struct CodecMeasurement {
  CodecSpec spec;
  ChunkShape shape;
  double bound_abs = 0;            ///< what the spec's bound means for this chunk
  std::int64_t payload_bytes = 0;  ///< header included, the exchanged size not
  double max_error = 0;            ///< over finite values; infinite where one came back as infinity
  std::int64_t altered_non_finite = 0;  ///< values that were not finite and lost their bits
  double encode_s = 0;                  ///< median of the repetitions, one thread
  double decode_s = 0;

  [[nodiscard]] std::int64_t value_bytes() const { return 4 * shape.values(); }
  [[nodiscard]] std::int64_t wire_bytes() const { return payload_bytes + kExchangedSizeBytes; }
  /// Bytes of the values per byte on the wire, everything counted.
  [[nodiscard]] double ratio() const;
  [[nodiscard]] double encode_gb_s() const;
  [[nodiscard]] double decode_gb_s() const;
  /// How much sooner the values arrive than uncompressed over a link of that bandwidth, when
  /// encoding, sending and decoding follow each other: 1 / (1 / ratio + B / encode + B / decode).
  [[nodiscard]] double speedup_at(double link_gb_s) const;
};

/// Encodes and decodes at least five times and until `seconds` are spent on each.
[[nodiscard]] CodecMeasurement measure_codec(const CodecSpec& spec, const float* values,
                                             const ChunkShape& shape, const CodecScratch& scratch,
                                             double seconds);

}  // namespace shardscope::engine
