#pragma once
// Constants of one machine as measured or assumed, and codec throughputs. Values only; fitted in
// planner/, measured by the engine, stored by storage/.

#include <optional>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/topology.hpp"

namespace shardscope {

/// Throughput of one codec by payload size.
struct CodecProfilePoint {
  double payload_bytes = 0;
  double encode_bytes_per_s = 0;
  double decode_bytes_per_s = 0;

  friend bool operator==(const CodecProfilePoint&, const CodecProfilePoint&) = default;
};

/// What one codec does to one table's traffic.
struct CodecProfile {
  std::string codec;
  std::string table;  ///< empty: any table
  /// RB sends pooled sums, UB distinct rows, which compress differently; none: either.
  std::optional<ClusterType> cluster;
  double bound = -1;  ///< that it was measured at; negative: any
  double ratio = 1;   ///< input bytes / wire bytes, everything counted
  double max_error = 0;
  std::vector<CodecProfilePoint> by_size;
  Origin origin = Origin::prior;

  friend bool operator==(const CodecProfile&, const CodecProfile&) = default;
};

/// A fitted machine: replaces the constants of a Topology's GPU and links where present.
struct Calibration {
  std::string name;
  std::string environment;  ///< JSON text: machine, versions, date
  std::string backend;      ///< cpu | cuda
  Gpu gpu;
  LinkModel intra;
  LinkModel inter;
  std::vector<CodecProfile> codecs;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace shardscope
