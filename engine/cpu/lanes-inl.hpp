// Vectors of fp32 from and to rows of any type, and the walk over a row's columns. Included once
// per instruction set by the kernels (Google Highway's foreach_target); the values equal those of
// half.hpp and rounding.hpp bit for bit on every one.

#if defined(SHARDSCOPE_ENGINE_CPU_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CPU_LANES_INL
#undef SHARDSCOPE_ENGINE_CPU_LANES_INL
#else
#define SHARDSCOPE_ENGINE_CPU_LANES_INL
#endif

#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "engine/cpu/values.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Targets whose conversions of fp16 are single instructions, exact and to nearest even.
#define SHARDSCOPE_HARDWARE_FP16 \
  (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL)

template <class D>
using Words = hn::RebindToUnsigned<D>;

template <class D>
HWY_INLINE hn::Vec<Words<D>> load_16_bits(D, const std::uint16_t* from) {
  const hn::Rebind<std::uint16_t, D> d16;
  return hn::PromoteTo(Words<D>(), hn::LoadU(d16, from));
}

template <class D>
HWY_INLINE void store_16_bits(D, hn::Vec<Words<D>> bits, std::uint16_t* to) {
  const hn::Rebind<std::uint16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<D>(), bits)), d16, to);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Bf16* from) {
  return hn::BitCast(d, hn::ShiftLeft<16>(load_16_bits(d, &from->bits)));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Fp16* from) {
#if SHARDSCOPE_HARDWARE_FP16
  const hn::Rebind<hwy::float16_t, D> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  const Words<D> du;
  const auto bits = load_16_bits(d, &from->bits);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000U)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffU));
  const auto scaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112F));
  const auto special =
      hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(du, 0x7bffU)), hn::Set(du, 0x7f800000U));
  const auto quiet =
      hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(du, 0x7c00U)), hn::Set(du, 0x00400000U));
  return hn::BitCast(d, hn::Or(hn::Or(hn::BitCast(du, scaled), sign), hn::Or(special, quiet)));
#endif
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, Bf16* to) {
  const Words<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffU)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x00400000U));
  const auto is_nan = hn::Gt(magnitude, hn::Set(du, 0x7f800000U));
  store_16_bits(d, hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded)), &to->bits);
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, Fp16* to) {
#if SHARDSCOPE_HARDWARE_FP16
  const hn::Rebind<hwy::float16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, value), d16, reinterpret_cast<hwy::float16_t*>(to));
#else
  const Words<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000U));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1U));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, hn::Set(du, 0x38000000U - 0xfffU)), odd));
  const auto subnormal =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5F))),
              hn::Set(du, 0x3f000000U));
  const auto nan =
      hn::Or(hn::Set(du, 0x7e00U), hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3ffU)));
  auto half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000U)), subnormal, normal);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x477fffffU)), hn::Set(du, 0x7c00U), half);
  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7f800000U)), nan, half);
  store_16_bits(d, hn::Or(half, sign), &to->bits);
#endif
}

/// K neighbouring vectors.
template <int K, class D>
struct Block {
  static constexpr int kVectors = K;
  hn::Vec<D> v[K];
};

/// Calls visit(d, Count<K>(), column) for blocks of K vectors that cover columns [0, width) once,
/// in ascending order: the widest first, shorter vectors for the remainder. Never touches a column
/// beyond the row.
template <int K>
using Count = std::integral_constant<int, K>;

template <int K, class D, class Visit>
HWY_INLINE std::int64_t visit_blocks(D d, std::int64_t column, std::int64_t width,
                                     const Visit& visit) {
  const auto step = static_cast<std::int64_t>(K * hn::Lanes(d));
  for (; column + step <= width; column += step) visit(d, Count<K>(), column);
  return column;
}

/// As visit_blocks with vectors of so many lanes, where full vectors are longer.
template <int kLanes, class Visit>
HWY_INLINE std::int64_t visit_tail(std::int64_t column, std::int64_t width, const Visit& visit) {
  if constexpr (kLanes < hn::MaxLanes(hn::ScalableTag<float>())) {
    return visit_blocks<1>(hn::CappedTag<float, kLanes>(), column, width, visit);
  }
  return column;
}

template <int K, class Visit>
HWY_INLINE void for_column_blocks(std::int64_t width, const Visit& visit) {
  const hn::ScalableTag<float> d;
  std::int64_t column = visit_blocks<K>(d, 0, width, visit);
  if constexpr (K > 8) column = visit_blocks<8>(d, column, width, visit);
  if constexpr (K > 4) column = visit_blocks<4>(d, column, width, visit);
  if constexpr (K > 2) column = visit_blocks<2>(d, column, width, visit);
  if constexpr (K > 1) column = visit_blocks<1>(d, column, width, visit);
  column = visit_tail<8>(column, width, visit);
  column = visit_tail<4>(column, width, visit);
  column = visit_tail<2>(column, width, visit);
  visit_tail<1>(column, width, visit);
}

inline constexpr std::int64_t kLineBytes = 64;

/// Asks for the cache lines of `bytes` bytes.
HWY_INLINE void prefetch_bytes(const void* from, std::int64_t bytes) {
  const auto* at = static_cast<const std::uint8_t*>(from);
  for (std::int64_t offset = 0; offset < bytes; offset += kLineBytes) hwy::Prefetch(at + offset);
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
