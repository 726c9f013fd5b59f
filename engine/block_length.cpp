#include "engine/block_length.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope::engine {

std::int32_t block_iterations(double iteration_s, double target_s, std::int32_t cycle) {
  constexpr double kMostIterations = 4096;
  const double wanted = std::min(target_s / std::max(iteration_s, 1e-9), kMostIterations);
  if (wanted * 4 < cycle) return 1;
  const auto cycles = static_cast<std::int32_t>(std::lround(wanted / cycle));
  return std::max(1, cycles) * cycle;
}

}  // namespace shardscope::engine
