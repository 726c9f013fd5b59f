#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/copy_columns.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Scales one row, converts it and stores it or adds it to what is there.
template <class From, class To, bool accumulate>
struct ScaledCopy {
  const From* from;
  To* to;
  float scale;

  template <class D, int K>
  HWY_INLINE void operator()(D d, Count<K>, std::int64_t column) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto factor = hn::Set(d, scale);
    for (int k = 0; k < K; ++k, column += lanes) {
      const auto value = hn::Mul(factor, load(d, from + column));
      store(d, accumulate ? hn::Add(load(d, to + column), value) : value, to + column);
    }
  }
};

template <class From, class To, bool accumulate>
void copy_rows(const CopyColumns& call) {
  const From* from = static_cast<const From*>(call.from);
  To* to = static_cast<To*>(call.to);
  for (std::int64_t r = 0; r < call.rows; ++r, from += call.from_stride, to += call.to_stride) {
    const float scale = call.scale != nullptr ? call.scale[r] * call.factor : call.factor;
    for_column_blocks<4>(call.width, ScaledCopy<From, To, accumulate>{from, to, scale});
  }
}

template <class From>
void copy_from(const CopyColumns& call) {
  if (call.accumulate) return copy_rows<From, float, true>(call);
  with_value_type(call.to_type, [&](auto to) { copy_rows<From, decltype(to), false>(call); });
}

void copy_columns(const CopyColumns& call) {
  with_value_type(call.from_type, [&](auto from) { copy_from<decltype(from)>(call); });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(copy_columns);

void copy_columns(const CopyColumns& call) {
  HWY_DYNAMIC_DISPATCH(copy_columns)(call);
}

}  // namespace shardscope::engine
#endif
