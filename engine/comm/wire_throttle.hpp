#pragma once
// Bandwidth limit of the emulated wires, as a value.

namespace shardscope::engine {

/// Bandwidth a rank may use per link class and direction, bytes/s; 0: unthrottled. Makes the run
/// `emulated`.
struct WireThrottle {
  double intra_bytes_per_s = 0;
  double inter_bytes_per_s = 0;

  [[nodiscard]] bool any() const { return intra_bytes_per_s > 0 || inter_bytes_per_s > 0; }

  friend bool operator==(const WireThrottle&, const WireThrottle&) = default;
};

}  // namespace shardscope::engine
