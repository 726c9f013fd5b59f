#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/square_sum.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/reduce_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

void square_sum(const SquareSum& call) {
  const std::int64_t unique_count = *call.unique_count;
  for (std::int64_t u = 0; u < unique_count; ++u) {
    call.out[u] = row_square_sum(call.gradients + u * call.width, call.width);
  }
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(square_sum);

void square_sum(const SquareSum& call) {
  HWY_DYNAMIC_DISPATCH(square_sum)(call);
}

}  // namespace shardscope::engine
#endif
