#pragma once
// How often two layouts under comparison trade engines.

#include <cstdint>

namespace shardscope::engine {

/// Pairs of blocks between trades: 4, 8, 16, ..., the fewest with which trading takes at most a
/// quarter of the time the pairs take. At multiples of 4 pairs the rule of stopping looks. 0 where
/// not even one trade (after half a period) fits the time left.
[[nodiscard]] std::int64_t trade_period(double trade_s, double pair_s, double left_s);

}  // namespace shardscope::engine
