#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
void copy_columns(const CopyColumns& call) {
  with_value_type(call.from_type, [&](auto from_value) {
    with_value_type(call.to_type, [&](auto to_value) {
      using To = decltype(to_value);
      const auto* from = static_cast<const decltype(from_value)*>(call.from);
      To* to = static_cast<To*>(call.to);
      for (std::int64_t r = 0; r < call.rows; ++r, from += call.from_stride, to += call.to_stride) {
        const float scale = call.scale != nullptr ? call.scale[r] * call.factor : call.factor;
        for (std::int32_t c = 0; c < call.width; ++c) {
          const float value = scale * to_float(from[c]);
          to[c] = from_float<To>(call.accumulate ? to_float(to[c]) + value : value);
        }
      }
    });
  });
}

}  // namespace shardscope::engine
