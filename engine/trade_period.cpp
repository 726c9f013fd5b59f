#include "engine/trade_period.hpp"

#include <algorithm>

namespace shardscope::engine {

std::int64_t trade_period(double trade_s, double pair_s, double left_s) {
  constexpr double kMostShare = 0.25;
  constexpr std::int64_t kLeastPairs = 4;
  constexpr std::int64_t kMostPairs = std::int64_t{1} << 20;
  const double least_pair_s = std::max(pair_s, 1e-9);
  std::int64_t period = kLeastPairs;
  while (period < kMostPairs && trade_s > kMostShare * static_cast<double>(period) * least_pair_s) {
    period *= 2;
  }
  // One trade halves the run: a whole period of pairs and the trade itself.
  const double needed_s = static_cast<double>(period) * least_pair_s + trade_s;
  return needed_s <= left_s ? period : 0;
}

}  // namespace shardscope::engine
