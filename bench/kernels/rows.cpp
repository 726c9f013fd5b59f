#include "bench/kernels/rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels/rows.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

float read_rows(const float* table, std::int64_t width, const std::int32_t* ids, std::int64_t count,
                std::int64_t distance) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  for (std::int64_t n = 0; n < count; ++n) {
    if (n + distance < count) prefetch_bytes(table + ids[n + distance] * width, width * 4);
    const float* row = table + ids[n] * width;
    for (std::int64_t c = 0; c < width; c += 2 * lanes) {
      even = hn::Add(even, hn::LoadU(d, row + c));
      odd = hn::Add(odd, hn::LoadU(d, row + c + lanes));
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

void rewrite_rows(float* table, std::int64_t width, const std::int64_t* rows, std::int64_t count,
                  std::int64_t distance) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto change = hn::Set(d, 1e-6F);
  for (std::int64_t u = 0; u < count; ++u) {
    if (u + distance < count) prefetch_bytes(table + rows[u + distance] * width, width * 4);
    float* row = table + rows[u] * width;
    for (std::int64_t c = 0; c < width; c += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, row + c), change), d, row + c);
    }
  }
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace shardscope::engine {

HWY_EXPORT(read_rows);
HWY_EXPORT(rewrite_rows);

float read_rows(const float* table, std::int64_t width, const std::int32_t* ids, std::int64_t count,
                std::int64_t distance) {
  return HWY_DYNAMIC_DISPATCH(read_rows)(table, width, ids, count, distance);
}

void rewrite_rows(float* table, std::int64_t width, const std::int64_t* rows, std::int64_t count,
                  std::int64_t distance) {
  HWY_DYNAMIC_DISPATCH(rewrite_rows)(table, width, rows, count, distance);
}

}  // namespace shardscope::engine

#endif
