#pragma once
// Which codec a table's vectors should travel through between fast domains, from measured profiles
// and the link's bandwidth. With encode, wire and decode one after the other a chunk arrives
//   S = 1 / (1 / ratio + B / encode + B / decode)
// times as fast as uncompressed (Feng et al., SC'24); below B* = (1 - 1 / ratio) / (1 / encode +
// 1 / decode) it pays at all.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"

namespace shardscope {

/// Throughput at a chunk size: between measured sizes interpolated over the logarithm of the size,
/// beyond them that of the nearest.
struct CodecThroughput {
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;
};
[[nodiscard]] CodecThroughput throughput_at(const CodecProfile& profile, double chunk_bytes);

/// The best at any size that was measured.
[[nodiscard]] CodecThroughput best_throughput(const CodecProfile& profile);

/// S. A profile without throughputs gives 0.
[[nodiscard]] double codec_speedup(const CodecProfile& profile, double chunk_bytes,
                                   double link_bytes_per_s);

/// B*, bytes/s; 0 where the codec makes nothing smaller.
[[nodiscard]] double break_even_bytes_per_s(const CodecProfile& profile, double chunk_bytes);

struct CodecChoiceOptions {
  /// A codec must be at least this much faster than raw: measurements vary.
  double least_speedup = 1.05;
  /// One that is in place stays unless another is this much faster.
  double hysteresis = 1.05;
  LinkClass hop = LinkClass::inter;  ///< between fast domains, or inside them
};

/// The choice for one table.
struct CodecChoice {
  std::int32_t table = 0;
  LinkClass hop = LinkClass::inter;
  std::string codec = "raw";
  double speedup = 1;  ///< of the exchange, S
  double ratio = 1;
  double chunk_bytes = 0;             ///< uncompressed, from one rank to one rank
  double break_even_bytes_per_s = 0;  ///< of the codec, or of the best one that was refused
  std::string reason;                 ///< one sentence

  friend bool operator==(const CodecChoice&, const CodecChoice&) = default;
};

/// Best codec of every RB and UB table for the hop, among the profiles that are the table's own or
/// any table's. Nothing is chosen where no vectors take the hop, or where they stay raw on it (the
/// fast domain's part of a hierarchical exchange).
[[nodiscard]] std::vector<CodecChoice> choose_codecs(const Workload& workload,
                                                     const Topology& topology, const Layout& layout,
                                                     const std::vector<CodecProfile>& profiles,
                                                     const CodecChoiceOptions& options = {});

/// The layout with the choices in their hops' forward slots (bound of the table's choice from
/// `bounds`, relative) and, where a codec was chosen, bf16 in the hops' backward slots.
[[nodiscard]] Layout with_codecs(Layout layout, const std::vector<CodecChoice>& choices,
                                 const std::vector<double>& bounds);

/// The layout with the same codecs for every table between fast domains.
[[nodiscard]] Layout with_one_codec(Layout layout, const CodecSlot& forward,
                                    const CodecSlot& backward);

/// Expected fp32 bytes of a table's vectors from one rank to another.
[[nodiscard]] double chunk_bytes_of(const Workload& workload, const Layout& layout,
                                    std::size_t table);

}  // namespace shardscope
