#pragma once
// How uncertain the constants of a topology are, by where they come from, and what that does to a
// prediction.

#include <functional>
#include <string>
#include <vector>

#include "layout/topology.hpp"

namespace shardscope {

/// A constant of a topology that is not a datasheet figure.
struct UncertainConstant {
  std::string name;
  Quantity* quantity = nullptr;
  double log_sd = 0;  ///< standard deviation of its logarithm
};

/// The uncertain constants of `topology` (pointers into it).
[[nodiscard]] std::vector<UncertainConstant> uncertain_constants(Topology& topology);

/// Standard deviation of the logarithm of `seconds(topology)`: each constant moved by one of its
/// own, effects summed in squares. Efficiencies stay at or below 1.
[[nodiscard]] double log_deviation(const Topology& topology,
                                   const std::function<double(const Topology&)>& seconds);

/// Spread between boxes of one configuration (software, clocks, host). Origin: published, six
/// 8xH100 boxes of MLPerf training 3.0 and 3.1 with one plan: 4.3 % standard deviation. 2023-11.
inline constexpr double kBoxLogSd = 0.043;

/// Half-width of a 90 % interval in standard deviations.
inline constexpr double kNinetyPercent = 1.645;

}  // namespace shardscope
