#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
void gather_rows(const GatherRows& call) {
  with_value_type(call.row_type, [&](auto row) {
    with_key_type(call.key, [&](auto key) {
      with_value_type(call.out_type, [&](auto to) {
        using To = decltype(to);
        const auto* ids = static_cast<const decltype(key)*>(call.ids);
        const auto* rows = static_cast<const decltype(row)*>(call.rows);
        To* out = static_cast<To*>(call.out);
        for (std::int64_t n = 0; n < call.count; ++n, out += call.out_stride) {
          for (std::int32_t c = 0; c < call.width; ++c) {
            out[c] = from_float<To>(to_float(rows[ids[n] * call.row_stride + c]));
          }
        }
      });
    });
  });
}

}  // namespace shardscope::engine
