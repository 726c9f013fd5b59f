#include "engine/codec/quantizer.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/expand.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class Code, class D>
HWY_INLINE void expand_block(D d, const Code* from, hn::Vec<D> step, float* to) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<Code, D> dc;
  if constexpr (sizeof(Code) == 1) {
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(dc, from))), step), d, to);
  } else {
    hn::StoreU(hn::Mul(hn::ConvertTo(d, hn::LoadU(dc, from)), step), d, to);
  }
}

template <class Code>
HWY_INLINE void expand_row(const Code* from, std::int64_t width, float step, float* to) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, step);
  if (width < lanes) {
    for (std::int64_t c = 0; c < width; ++c) to[c] = static_cast<float>(from[c]) * step;
    return;
  }
  std::int64_t c = 0;
  for (; c + lanes <= width; c += lanes) expand_block(d, from + c, factor, to + c);
  // The last vector overlaps the one before.
  if (c < width) expand_block(d, from + width - lanes, factor, to + width - lanes);
}

template <class Code>
void expand_rows(const Expand& call) {
  const auto* codes = static_cast<const Code*>(call.codes);
  if (call.index == nullptr) {
    return expand_row(codes, call.rows * call.dim, call.step, call.out);
  }
  for (std::int64_t r = 0; r < call.rows; ++r) {
    expand_row(codes + static_cast<std::int64_t>(call.index[r]) * call.dim, call.dim, call.step,
               call.out + r * call.dim);
  }
}

void expand_codes_8(const Expand& call) {
  expand_rows<std::int8_t>(call);
}

void expand_codes_32(const Expand& call) {
  expand_rows<std::int32_t>(call);
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(expand_codes_8);
HWY_EXPORT(expand_codes_32);

void expand_8(const Expand& call) {
  HWY_DYNAMIC_DISPATCH(expand_codes_8)(call);
}

void expand_32(const Expand& call) {
  HWY_DYNAMIC_DISPATCH(expand_codes_32)(call);
}

}  // namespace shardscope::engine
#endif
