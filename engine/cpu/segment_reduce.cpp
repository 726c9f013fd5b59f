#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/segment_reduce.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/reduce_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Sums that take more than this go around the caches: they would be read back from memory, and a
/// plain store reads the line it is about to overwrite first.
constexpr std::int64_t kStreamedBytes = 16 << 20;

/// Columns of a row that is reduced aside before it is streamed.
constexpr std::int64_t kMostStreamedColumns = 2048;

/// Whole cache lines from the row's first byte on.
bool is_streamed(const SegmentReduce& call, std::int64_t unique_count) {
  constexpr std::int64_t kColumns = kLineBytes / 4;
  return unique_count * call.width * 4 > kStreamedBytes && call.width % kColumns == 0 &&
         call.width <= kMostStreamedColumns &&
         reinterpret_cast<std::uintptr_t>(call.out) % kLineBytes == 0;
}

void stream_row(const float* from, std::int64_t width, float* to) {
  const hn::CappedTag<float, kLineBytes / 4> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t c = 0; c < width; c += lanes) hn::Stream(hn::Load(d, from + c), d, to + c);
}

template <class Row>
void reduce_rows(const SegmentReduce& call) {
  const std::int64_t unique_count = *call.unique_count;
  const GradientRows<Row> gradients(call, unique_count);
  alignas(kLineBytes) float aside[kMostStreamedColumns];
  const bool streamed = is_streamed(call, unique_count);
  for (std::int64_t u = 0; u < unique_count; ++u) {
    float* const out = call.out + u * call.width;
    float* const row = streamed ? aside : out;
    gradients.reduce(u, row);
    if (call.square_sum != nullptr) call.square_sum[u] = row_square_sum(row, call.width);
    if (streamed) stream_row(row, call.width, out);
  }
  if (streamed) hwy::FlushStream();
}

void segment_reduce(const SegmentReduce& call) {
  with_value_type(call.gradient_type, [&](auto type) { reduce_rows<decltype(type)>(call); });
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
