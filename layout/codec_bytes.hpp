#pragma once
// Which exchanges of vectors run through codecs, and what memory that takes. A coded message is a
// list of chunks, one a partial sum (RB) or column shard of a row unit (UB): their sizes (4 bytes
// each), then their payloads. How long it is, the exchange of sizes before it says (8 bytes a
// peer): these bytes are counted as sent and follow no formula.

#include <cstdint>

#include "layout/bytes.hpp"
#include "layout/layout.hpp"
#include "layout/routes.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

enum class Direction : std::uint8_t { forward, backward };

/// Bytes of messages that ran through codecs, before and after; what was sent for them includes
/// the exchange of sizes besides.
struct CodedBytes {
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int32_t exchanges = 0;

  friend bool operator==(const CodedBytes&, const CodedBytes&) = default;
};

/// The slot of a direction and link class; self counts as intra.
[[nodiscard]] const CodecSlot& codec_slot(const CodecSlots& slots, Direction direction,
                                          LinkClass link);

/// True where messages of the cluster's vectors in that direction may be coded: some table has a
/// codec other than raw for a link class that the topology has.
[[nodiscard]] bool is_coded(const Topology& topology, const Layout& layout, ClusterType cluster,
                            Direction direction);

/// True where gradients of a UB table travel with error feedback ("row-int8-ef") over a link class
/// that the topology has. Every rank then keeps what coding has lost of each row: rows x dim fp32.
[[nodiscard]] bool has_error_feedback(const Topology& topology, const Layout& layout,
                                      std::size_t table);

/// The codec's name.
inline constexpr const char* kErrorFeedbackCodec = "row-int8-ef";

/// What a chunk may take beyond its values: its size, its header, what encoding touches behind it.
inline constexpr std::int64_t kCodedChunkBytes = 24;

/// Memory of the compressors of lossless codecs.
inline constexpr std::int64_t kCompressorStateBytes = 1 << 20;

/// Scratch of encoding and decoding chunks of at most so many values and rows.
[[nodiscard]] std::int64_t codec_scratch_bytes(std::int64_t max_values, std::int64_t max_rows);

/// Memory of a rank for the coded exchanges of one cluster; all 0 where there is none.
struct CodecMemory {
  std::int64_t message_bytes = 0;  ///< of the send and of the receive buffer
  std::int64_t max_values = 0;     ///< of a chunk
  std::int64_t max_rows = 0;

  [[nodiscard]] std::int64_t scratch_bytes() const {
    return max_values == 0 ? 0 : codec_scratch_bytes(max_values, max_rows);
  }
};

[[nodiscard]] CodecMemory codec_memory(const Workload& workload, const Topology& topology,
                                       const Layout& layout, const Routes& routes,
                                       ClusterType cluster, std::int32_t rank,
                                       const BatchCounts& capacity);

}  // namespace shardscope
