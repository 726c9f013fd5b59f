#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
void square_sum(const SquareSum& call) {
  constexpr std::int32_t kLanes = 16;
  const std::int64_t unique = *call.unique_count;
  for (std::int64_t u = 0; u < unique; ++u) {
    const float* gradient = call.gradients + u * call.width;
    float lanes[kLanes] = {};
    for (std::int32_t c = 0; c < call.width; ++c) lanes[c % kLanes] += gradient[c] * gradient[c];
    for (std::int32_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int32_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    call.out[u] = lanes[0];
  }
}

}  // namespace shardscope::engine
