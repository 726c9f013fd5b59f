#include "engine/batches/lengths.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

tl::unexpected<Error> bad_hotness(const std::string& place, std::string what,
                                  std::string expected) {
  return fail({ErrorKind::usage, std::move(what), place, std::move(expected),
               "Correct the feature's hotness"});
}

}  // namespace

Result<Lengths> Lengths::make(const Hotness& hotness, const std::string& place) {
  Lengths lengths;
  lengths.minimum_ = hotness.minimum;
  lengths.maximum_ = hotness.maximum;
  if (hotness.minimum < 0) {
    return bad_hotness(place, fmt::format("hotness {} is negative", hotness.minimum), "0 or more");
  }
  if (hotness.kind == HotnessKind::fixed) {
    lengths.maximum_ = hotness.minimum;
    return lengths;
  }
  if (hotness.kind == HotnessKind::uniform) {
    if (hotness.maximum < hotness.minimum) {
      return bad_hotness(place,
                         fmt::format("largest hotness {} is below the smallest {}", hotness.maximum,
                                     hotness.minimum),
                         "minimum <= maximum");
    }
    return lengths;
  }
  double sum = 0;
  for (const double weight : hotness.weights) {
    if (!(weight >= 0) || !std::isfinite(weight)) {
      return bad_hotness(place, fmt::format("hotness weight {} is not usable", weight),
                         "finite weights >= 0");
    }
    sum += weight;
    lengths.cumulative_.push_back(sum);
  }
  if (!(sum > 0)) {
    return bad_hotness(place, "the hotness histogram is empty", "at least one positive weight");
  }
  lengths.maximum_ = hotness.minimum + static_cast<std::int32_t>(hotness.weights.size()) - 1;
  return lengths;
}

std::int32_t Lengths::by_histogram(Draws& draws) const {
  // unit() is in (0, 1]: the first bin whose cumulative weight reaches it, so empty bins are never
  // chosen.
  const double at = draws.unit() * cumulative_.back();
  const auto bin = std::lower_bound(cumulative_.begin(), cumulative_.end(), at);
  return minimum_ + static_cast<std::int32_t>(bin - cumulative_.begin());
}

}  // namespace shardscope::engine
