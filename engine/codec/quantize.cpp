#include <algorithm>
#include <cstring>

#include "engine/codec/quantizer.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codec/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;
using CodeVec = hn::Vec<hn::RebindToSigned<FloatTag>>;

constexpr std::int64_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

struct RangeAccumulator {
  FloatVec low, high;

  HWY_INLINE void add(FloatTag d, FloatVec value) {
    const auto largest = hn::Set(d, hwy::HighestValue<float>());
    const auto finite = hn::Le(hn::Abs(value), largest);
    low = hn::Min(low, hn::IfThenElse(finite, value, low));
    high = hn::Max(high, hn::IfThenElse(finite, value, high));
  }
};

/// Unlike vectors the tail must not read beyond the values.
template <class Visit>
HWY_INLINE void visit_tail_padded(const float* values, std::int64_t rest, const Visit& visit) {
  if (rest == 0) return;
  HWY_ALIGN float padded[kMostLanes] = {};
  // Repeating the last value adds nothing to a range and no escape that is not cut off.
  for (std::int64_t i = 0; i < kMostLanes; ++i) padded[i] = values[std::min(i, rest - 1)];
  visit(hn::Load(FloatTag(), padded));
}

void range_of(const float* values, std::int64_t count, FiniteRange& range) {
  const FloatTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  RangeAccumulator sums[4] = {{infinity, hn::Neg(infinity)},
                              {infinity, hn::Neg(infinity)},
                              {infinity, hn::Neg(infinity)},
                              {infinity, hn::Neg(infinity)}};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (int k = 0; k < 4; ++k) sums[k].add(d, hn::LoadU(d, values + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes) sums[0].add(d, hn::LoadU(d, values + i));
  visit_tail_padded(values + i, count - i, [&](FloatVec value) { sums[0].add(d, value); });
  for (int k = 1; k < 4; ++k) {
    sums[0].low = hn::Min(sums[0].low, sums[k].low);
    sums[0].high = hn::Max(sums[0].high, sums[k].high);
  }
  range.low = hn::GetLane(hn::MinOfLanes(d, sums[0].low));
  range.high = hn::GetLane(hn::MaxOfLanes(d, sums[0].high));
}

HWY_INLINE void store_codes(CodeVec codes, std::int32_t* to) {
  hn::StoreU(codes, hn::RebindToSigned<FloatTag>(), to);
}

HWY_INLINE void store_codes(CodeVec codes, std::int8_t* to) {
  const hn::Rebind<std::int8_t, FloatTag> d8;
  hn::StoreU(hn::DemoteTo(d8, codes), d8, to);
}

template <class Code>
class Quantization {
 public:
  Quantization(const Quantizer& quantizer, float limit, Escapes& escapes)
      : inverse_(hn::Set(d_, quantizer.inverse)),
        step_(hn::Set(d_, quantizer.step)),
        bound_(hn::Set(d_, quantizer.bound)),
        limit_(hn::Set(d_, limit)),
        escapes_(escapes) {}

  /// False where the escapes have no room.
  bool run(const float* values, std::int64_t count, Code* codes) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d_));
    std::int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const auto bad =
          hn::Or(hn::Or(block(values, i, codes), block(values, i + lanes, codes)),
                 hn::Or(block(values, i + 2 * lanes, codes), block(values, i + 3 * lanes, codes)));
      if (HWY_LIKELY(hn::AllFalse(d_, bad))) continue;
      if (!collect(values, i, i + 4 * lanes)) return false;
    }
    for (; i + lanes <= count; i += lanes) {
      block(values, i, codes);
      if (!collect(values, i, i + lanes)) return false;
    }
    visit_tail_padded(values + i, count - i, [&](FloatVec value) {
      Mask bad;
      store_codes(codes_of(value, bad), codes + i);
    });
    return collect(values, i, count);
  }

 private:
  using Mask = hn::Mask<FloatTag>;

  HWY_INLINE CodeVec codes_of(FloatVec value, Mask& bad) const {
    const hn::RebindToSigned<FloatTag> di;
    const auto scaled = hn::Min(hn::Max(hn::Mul(value, inverse_), hn::Neg(limit_)), limit_);
    const auto codes = hn::NearestInt(scaled);
    const auto decoded = hn::Mul(hn::ConvertTo(d_, codes), step_);
    bad = hn::Not(hn::Le(hn::Abs(hn::Sub(value, decoded)), bound_));
    return hn::IfThenZeroElse(hn::RebindMask(di, bad), codes);
  }

  HWY_INLINE Mask block(const float* values, std::int64_t i, Code* codes) const {
    Mask bad;
    store_codes(codes_of(hn::LoadU(d_, values + i), bad), codes + i);
    return bad;
  }

  /// Appends the escapes of values [begin, end), rare as they are.
  bool collect(const float* values, std::int64_t begin, std::int64_t end) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d_));
    for (; begin < end; begin += lanes) {
      const std::int64_t here = std::min(lanes, end - begin);
      HWY_ALIGN float padded[kMostLanes] = {};
      std::memcpy(padded, values + begin, static_cast<std::size_t>(here) * sizeof(float));
      Mask bad;
      codes_of(hn::Load(d_, padded), bad);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d_, bad, bits);
      for (std::int64_t lane = 0; lane < here; ++lane) {
        if (((bits[lane / 8] >> (lane % 8)) & 1) == 0) continue;
        if (escapes_.count == escapes_.capacity) return false;
        escapes_.positions[escapes_.count++] = static_cast<std::uint32_t>(begin + lane);
      }
    }
    return true;
  }

  FloatTag d_;
  FloatVec inverse_, step_, bound_, limit_;
  Escapes& escapes_;
};

bool quantize_8(const Quantizer& quantizer, const float* values, std::int64_t count,
                std::int8_t* codes, Escapes& escapes) {
  return Quantization<std::int8_t>(quantizer, kLargestCode8, escapes).run(values, count, codes);
}

bool quantize_32(const Quantizer& quantizer, const float* values, std::int64_t count,
                 std::int32_t* codes, Escapes& escapes) {
  return Quantization<std::int32_t>(quantizer, kLargestCode32, escapes).run(values, count, codes);
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(range_of);
HWY_EXPORT(quantize_8);
HWY_EXPORT(quantize_32);

FiniteRange finite_range(const float* values, std::int64_t count) {
  FiniteRange range;
  HWY_DYNAMIC_DISPATCH(range_of)(values, count, range);
  return range;
}

bool quantize(const Quantizer& quantizer, const float* values, std::int64_t count,
              std::int8_t* codes, Escapes& escapes) {
  return HWY_DYNAMIC_DISPATCH(quantize_8)(quantizer, values, count, codes, escapes);
}

bool quantize(const Quantizer& quantizer, const float* values, std::int64_t count,
              std::int32_t* codes, Escapes& escapes) {
  return HWY_DYNAMIC_DISPATCH(quantize_32)(quantizer, values, count, codes, escapes);
}

}  // namespace shardscope::engine
#endif
