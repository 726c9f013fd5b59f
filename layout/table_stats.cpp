#include "layout/table_stats.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

/// The line through two points in log-log space, at `keys`. A set of keys never gains more than
/// one distinct row a key and never loses one, so the slope is limited to 0..1.
double on_line(const UniquePoint& low, const UniquePoint& high, double keys) {
  if (high.keys <= low.keys || low.unique <= 0) return high.unique;
  const double slope =
      std::clamp(std::log(high.unique / low.unique) / std::log(high.keys / low.keys), 0.0, 1.0);
  return low.unique * std::pow(keys / low.keys, slope);
}

/// The curve begins at (1, 1): one key reads one row.
double on_curve(const std::vector<UniquePoint>& curve, double keys) {
  UniquePoint before_low{1, 1};
  UniquePoint low{1, 1};
  for (const UniquePoint& point : curve) {
    if (point.keys <= low.keys) continue;
    if (keys <= point.keys) return on_line(low, point, keys);
    before_low = low;
    low = point;
  }
  return low.keys > before_low.keys ? on_line(before_low, low, keys) : keys;
}

}  // namespace

double TableStats::unique_among(double key_count) const {
  if (key_count <= 1) return std::max(key_count, 0.0);
  const double limit =
      working_set_rows > 0 ? std::min(key_count, static_cast<double>(working_set_rows)) : key_count;
  return std::min(on_curve(unique, key_count), limit);
}

}  // namespace shardscope
