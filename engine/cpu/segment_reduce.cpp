#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/segment_reduce.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/reduce_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

void segment_reduce(const SegmentReduce& call) {
  with_value_type(call.gradient_type, [&](auto type) {
    const std::int64_t unique_count = *call.unique_count;
    const GradientRows<decltype(type)> gradients(call, unique_count);
    for (std::int64_t u = 0; u < unique_count; ++u) {
      gradients.reduce(u, call.out + u * call.width);
    }
  });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(segment_reduce);

void segment_reduce(const SegmentReduce& call) {
  HWY_DYNAMIC_DISPATCH(segment_reduce)(call);
}

}  // namespace shardscope::engine
#endif
