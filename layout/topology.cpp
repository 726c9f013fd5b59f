#include "layout/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "layout/names.hpp"

namespace shardscope {

namespace {

/// Bandwidth at a message size: log-log between the points, constant beyond both ends.
double bandwidth_at(const std::vector<BandwidthPoint>& curve, double message_bytes) {
  if (message_bytes <= curve.front().message_bytes) return curve.front().bytes_per_s;
  if (message_bytes >= curve.back().message_bytes) return curve.back().bytes_per_s;
  const auto above = std::upper_bound(
      curve.begin(), curve.end(), message_bytes,
      [](double bytes, const BandwidthPoint& point) { return bytes < point.message_bytes; });
  const BandwidthPoint& low = *(above - 1);
  const BandwidthPoint& high = *above;
  const double share = std::log(message_bytes / low.message_bytes) /
                       std::log(high.message_bytes / low.message_bytes);
  return low.bytes_per_s * std::pow(high.bytes_per_s / low.bytes_per_s, share);
}

}  // namespace

double LinkModel::bytes_per_s_at(double message_bytes) const {
  return by_size.empty() ? bytes_per_s.value * efficiency.value
                         : bandwidth_at(by_size, message_bytes);
}

double LinkModel::large_bytes_per_s() const {
  return bytes_per_s_at(std::numeric_limits<double>::infinity());
}

double LinkModel::seconds(double bytes, std::int32_t peers) const {
  if (peers <= 0) return 0;
  const double doublings = std::log2(1.0 + peers) - 1;
  const double latency = latency_s.value + latency_per_doubling_s.value * doublings;
  if (bytes <= 0) return latency;
  const double rate = bytes_per_s_at(bytes / peers);
  return rate > 0 ? latency + bytes / rate : std::numeric_limits<double>::infinity();
}

const char* to_string(Origin value) {
  return name_of(value);
}
const char* to_string(LinkClass value) {
  return name_of(value);
}

}  // namespace shardscope
