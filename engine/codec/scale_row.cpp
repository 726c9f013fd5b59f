#include "engine/codec/row_scaled.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/scale_row.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls visit(d, column) with full vectors, then with single lanes for what remains.
template <class Visit>
HWY_INLINE void visit_columns(std::int64_t width, const Visit& visit) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
  for (; c + lanes <= width; c += lanes) visit(d, c);
  for (; c < width; ++c) visit(hn::CappedTag<float, 1>(), c);
}

struct RowExtremes {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();
  bool finite = true;

  template <class D>
  HWY_INLINE void add(D d, hn::Vec<D> value) {
    const auto largest = hn::Set(d, std::numeric_limits<float>::max());
    finite = finite && hn::AllTrue(d, hn::Le(hn::Abs(value), largest));
    low = HWY_MIN(low, hn::GetLane(hn::MinOfLanes(d, value)));
    high = HWY_MAX(high, hn::GetLane(hn::MaxOfLanes(d, value)));
  }
};

void scale_one(const float* values, std::int64_t width, int levels, std::uint8_t* codes,
               RowScale& result) {
  RowExtremes row;
  visit_columns(width, [&](auto d, std::int64_t c) { row.add(d, hn::LoadU(d, values + c)); });
  const auto steps = static_cast<float>(levels);
  // Divided apart: the difference of the extremes may be infinite.
  result = {row.low, row.high / steps - row.low / steps};
  if (!row.finite) result = {0, std::numeric_limits<float>::quiet_NaN()};
  const bool flat = !(result.scale > 0);
  visit_columns(width, [&](auto d, std::int64_t c) {
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    if (flat) return hn::StoreU(hn::Zero(d8), d8, codes + c);
    const auto scale = hn::Set(d, result.scale);
    const auto offset =
        hn::Sub(hn::Div(hn::LoadU(d, values + c), scale), hn::Div(hn::Set(d, result.low), scale));
    const auto clamped = hn::Min(hn::Max(offset, hn::Zero(d)), hn::Set(d, steps));
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(clamped)), d8, codes + c);
  });
}

void unscale_one(const std::uint8_t* codes, std::int64_t width, const RowScale& scale,
                 float* values) {
  visit_columns(width, [&](auto d, std::int64_t c) {
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const auto level = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, codes + c)));
    hn::StoreU(hn::Add(hn::Set(d, scale.low), hn::Mul(level, hn::Set(d, scale.scale))), d,
               values + c);
  });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(scale_one);
HWY_EXPORT(unscale_one);

RowScale scale_row(const float* values, std::int64_t width, int levels, std::uint8_t* codes) {
  RowScale scale;
  HWY_DYNAMIC_DISPATCH(scale_one)(values, width, levels, codes, scale);
  return scale;
}

void unscale_row(const std::uint8_t* codes, std::int64_t width, const RowScale& scale,
                 float* values) {
  HWY_DYNAMIC_DISPATCH(unscale_one)(codes, width, scale, values);
}

}  // namespace shardscope::engine
#endif
