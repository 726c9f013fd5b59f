#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
void segment_reduce(const SegmentReduce& call) {
  with_value_type(call.gradient_type, [&](auto type) {
    const auto* gradients = static_cast<const decltype(type)*>(call.gradients);
    const std::int64_t unique = *call.unique_count;
    for (std::int64_t u = 0; u < unique; ++u) {
      for (std::int32_t c = 0; c < call.width; ++c) {
        float sum = 0;
        for (std::uint32_t i = call.offsets[u]; i < call.offsets[u + 1]; ++i) {
          const std::uint32_t g = call.gradient_row[i];
          const std::int64_t at = call.row_offset != nullptr ? call.row_offset[g] : g * call.stride;
          const float value = to_float(gradients[at + c]);
          sum += call.weights != nullptr ? call.weights[i] * value : value;
        }
        call.out[u * call.width + c] = call.factor * sum;
      }
    }
  });
}

}  // namespace shardscope::engine
