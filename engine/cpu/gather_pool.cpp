#include <cmath>
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/values.hpp"

namespace shardscope::engine {
namespace {

template <class Row, class Key, class Out>
void pool_bags(const GatherPool& call) {
  const Key* ids = static_cast<const Key*>(call.ids);
  const Row* rows = static_cast<const Row*>(call.rows);
  Out* out = static_cast<Out*>(call.out);
  std::int64_t first = 0;
  for (std::int64_t bag = 0; bag < call.bags; ++bag, out += call.out_stride) {
    const std::int64_t end = first + call.lengths[bag];
    for (std::int32_t c = 0; c < call.width; ++c) {
      float sum = 0;
      for (std::int64_t n = first; n < end; ++n) {
        const float value = to_float(rows[ids[n] * call.row_stride + c]);
        sum += call.weights != nullptr ? call.weights[n] * value : value;
      }
      out[c] = from_float<Out>(call.accumulate ? to_float(out[c]) + sum : sum);
    }
    first = end;
  }
}

}  // namespace

void gather_pool(const GatherPool& call) {
  with_value_type(call.row_type, [&](auto row) {
    with_key_type(call.key, [&](auto key) {
      with_value_type(call.out_type, [&](auto out) {
        pool_bags<decltype(row), decltype(key), decltype(out)>(call);
      });
    });
  });
}

}  // namespace shardscope::engine
