// One row's optimizer step. Included once per instruction set.

#if defined(SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#undef SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#else
#define SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#endif

#include <iterator>

#include "engine/cpu/lanes-inl.hpp"
#include "engine/cpu/rounding.hpp"
#include "engine/cpu/update_terms.hpp"
#include "engine/ops.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// A column's share of rounding_bits, times 0, 1, 2, ... for the lanes of any vector. Iota would
/// write them to memory one by one and read them back as a vector, which waits for every store:
/// that took ten times the rest of an update.
constexpr std::uint32_t kColumnFactor = 0x9e3779b9U;
struct LaneFactors {
  constexpr LaneFactors() {
    for (std::uint32_t lane = 0; lane < std::size(of); ++lane) of[lane] = lane * kColumnFactor;
  }
  alignas(64) std::uint32_t of[16] = {};
};
constexpr LaneFactors kLaneFactors;
static_assert(hn::MaxLanes(hn::ScalableTag<std::uint32_t>()) <= std::size(kLaneFactors.of));

/// Random bits of neighbouring columns of a row: rounding_bits of rounding.hpp.
template <class D>
HWY_INLINE hn::Vec<Words<D>> lane_rounding_bits(D, std::uint64_t key, std::uint32_t column) {
  const Words<D> du;
  const auto columns = hn::Add(hn::Load(du, kLaneFactors.of), hn::Set(du, column * kColumnFactor));
  auto x = hn::Xor(hn::Set(du, static_cast<std::uint32_t>(key)), columns);
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352dU));
  x = hn::Add(hn::Xor(x, hn::ShiftRight<15>(x)),
              hn::Set(du, static_cast<std::uint32_t>(key >> 32)));
  x = hn::Mul(x, hn::Set(du, 0x846ca68bU));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

/// Where magnitudes (sign bit clear) lie above a limit, as all bits or none.
template <class DU>
HWY_INLINE hn::Vec<DU> above(DU du, hn::Vec<DU> magnitude, std::uint32_t limit) {
  const hn::RebindToSigned<DU> di;
  return hn::BitCast(du,
                     hn::VecFromMask(di, hn::Gt(hn::BitCast(di, magnitude),
                                                hn::Set(di, static_cast<std::int32_t>(limit)))));
}

/// Stochastic rounding of rounding.hpp on lanes. fp32 rows need none.
template <class D>
HWY_INLINE void store_rounded(D d, hn::Vec<D> value, std::uint64_t, std::uint32_t, float* to) {
  store(d, value, to);
}

template <class D>
HWY_INLINE void store_rounded(D d, hn::Vec<D> value, std::uint64_t key, std::uint32_t column,
                              Bf16* to) {
  const Words<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto random = hn::ShiftRight<16>(lane_rounding_bits(d, key, column));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto quiet = hn::And(above(du, magnitude, 0x7f800000U), hn::Set(du, 0x00400000U));
  const auto noise = hn::AndNot(above(du, magnitude, 0x7f7fffffU), random);
  store_16_bits(d, hn::ShiftRight<16>(hn::Or(hn::Add(bits, noise), quiet)), &to->bits);
}

/// Below 2^-14 the neighbours are 2^-24 apart.
template <class D>
HWY_INLINE hn::Vec<Words<D>> rounded_subnormal(D d, hn::Vec<Words<D>> magnitude,
                                               hn::Vec<Words<D>> random) {
  const Words<D> du;
  const hn::RebindToSigned<D> di;
  const auto units = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p24F));
  const auto whole = hn::ConvertTo(d, hn::ConvertTo(di, units));
  const auto threshold =
      hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(random))), hn::Set(d, 0x1p-24F));
  const auto up = hn::IfThenElseZero(hn::Gt(hn::Sub(units, whole), threshold), hn::Set(d, 1.0F));
  return hn::BitCast(du, hn::Mul(hn::Add(whole, up), hn::Set(d, 0x1p-24F)));
}

template <class D>
HWY_INLINE void store_rounded(D d, hn::Vec<D> value, std::uint64_t key, std::uint32_t column,
                              Fp16* to) {
  const Words<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto random = lane_rounding_bits(d, key, column);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto special = above(du, magnitude, 0x477fffffU);
  auto rounded = hn::AndNot(hn::AndNot(special, hn::Set(du, 0x1fffU)),
                            hn::Add(magnitude, hn::AndNot(special, hn::ShiftRight<19>(random))));
  const auto normal = hn::MaskFromVec(above(du, magnitude, 0x387fffffU));
  if (!hn::AllTrue(du, normal)) {  // seldom
    const auto small = hn::IfThenZeroElse(normal, magnitude);
    rounded = hn::IfThenElse(normal, rounded, rounded_subnormal(d, small, random));
  }
  store(d, hn::BitCast(d, hn::Or(rounded, hn::Xor(bits, magnitude))), to);
}

/// Moves weights and state of `row` by its gradient.
template <OptimizerKind kind, class Row>
class RowUpdate {
 public:
  HWY_INLINE RowUpdate(const OptimizerUpdate& call, const UpdateTerms& terms, std::int64_t row,
                       const float* gradient, float row_square_sum)
      : terms_(terms),
        gradient_(gradient),
        weights_(static_cast<Row*>(call.rows) + row * call.width),
        column_(static_cast<std::uint32_t>(call.first_column)) {
    if constexpr (!std::is_same_v<Row, float>) {
      key_ = row_rounding_key(terms.table_key, row * call.row_scale + call.row_base, call.step);
    }
    if constexpr (kind == OptimizerKind::adagrad || kind == OptimizerKind::adam) {
      first_ = call.state + row * call.width;
      second_ = first_ + call.row_count * call.width;
    }
    if constexpr (kind == OptimizerKind::rowwise_adagrad) {
      float& state = call.state[row];
      state += row_square_sum / terms.full_width;
      divisor_ = std::sqrt(state) + terms.epsilon;
    }
  }

  template <class D, int K>
  HWY_INLINE void operator()(D d, Count<K>, std::int64_t column) const {
    const auto gradient = hn::LoadU(d, gradient_ + column);
    const auto weight = load(d, weights_ + column);
    store_rounded(d, hn::Sub(weight, step(d, column, gradient)), key_,
                  column_ + static_cast<std::uint32_t>(column), weights_ + column);
  }

 private:
  /// What the weights lose.
  template <class D>
  HWY_INLINE hn::Vec<D> step(D d, std::int64_t column, hn::Vec<D> gradient) const {
    const auto scaled = hn::Mul(hn::Set(d, terms_.rate), gradient);
    if constexpr (kind == OptimizerKind::adagrad) {
      const auto state = hn::Add(hn::LoadU(d, first_ + column), hn::Mul(gradient, gradient));
      hn::StoreU(state, d, first_ + column);
      return hn::Div(scaled, hn::Add(hn::Sqrt(state), hn::Set(d, terms_.epsilon)));
    } else if constexpr (kind == OptimizerKind::rowwise_adagrad) {
      return hn::Div(scaled, hn::Set(d, divisor_));
    } else if constexpr (kind == OptimizerKind::adam) {
      return adam_step(d, column, gradient);
    } else {
      return scaled;
    }
  }

  template <class D>
  HWY_INLINE hn::Vec<D> adam_step(D d, std::int64_t column, hn::Vec<D> gradient) const {
    const auto m = hn::Add(hn::Mul(hn::Set(d, terms_.beta1), hn::LoadU(d, first_ + column)),
                           hn::Mul(hn::Set(d, terms_.gain1), gradient));
    const auto v = hn::Add(hn::Mul(hn::Set(d, terms_.beta2), hn::LoadU(d, second_ + column)),
                           hn::Mul(hn::Set(d, terms_.gain2), hn::Mul(gradient, gradient)));
    hn::StoreU(m, d, first_ + column);
    hn::StoreU(v, d, second_ + column);
    const auto mean = hn::Mul(m, hn::Set(d, terms_.correction1));
    const auto deviation = hn::Sqrt(hn::Mul(v, hn::Set(d, terms_.correction2)));
    return hn::Div(hn::Mul(hn::Set(d, terms_.rate), mean),
                   hn::Add(deviation, hn::Set(d, terms_.epsilon)));
  }

  const UpdateTerms& terms_;
  const float* gradient_;
  Row* weights_;
  std::uint32_t column_;
  std::uint64_t key_ = 0;
  float* first_ = nullptr;
  float* second_ = nullptr;
  float divisor_ = 1;
};

/// Rows of weights and state fetched ahead of the current one. Measured: 8 to 16 are alike and a
/// fifth faster than none.
inline constexpr std::int64_t kUpdatePrefetchRows = 8;

template <OptimizerKind kind, class Row>
HWY_INLINE void prefetch_update(const OptimizerUpdate& call, std::int64_t row) {
  const std::int64_t at = row * call.width;
  prefetch_bytes(static_cast<const Row*>(call.rows) + at,
                 call.width * static_cast<std::int64_t>(sizeof(Row)));
  if constexpr (kind == OptimizerKind::adagrad || kind == OptimizerKind::adam) {
    prefetch_bytes(call.state + at, call.width * 4);
  }
  if constexpr (kind == OptimizerKind::adam) {
    prefetch_bytes(call.state + call.row_count * call.width + at, call.width * 4);
  }
  if constexpr (kind == OptimizerKind::rowwise_adagrad) hwy::Prefetch(call.state + row);
}

/// Calls use(integral constant of the kind, Row{}) for the call's optimizer and row type.
template <class Use>
HWY_INLINE void with_update_types(const OptimizerUpdate& call, const Use& use) {
  with_value_type(call.row_type, [&](auto row) {
    using Kind = OptimizerKind;
    switch (call.optimizer.kind) {
      case Kind::sgd:
        return use(std::integral_constant<Kind, Kind::sgd>(), row);
      case Kind::adagrad:
        return use(std::integral_constant<Kind, Kind::adagrad>(), row);
      case Kind::rowwise_adagrad:
        return use(std::integral_constant<Kind, Kind::rowwise_adagrad>(), row);
      case Kind::adam:
        return use(std::integral_constant<Kind, Kind::adam>(), row);
      case Kind::other:
        break;
    }
    SHARDSCOPE_CHECK(false, "the engine refuses optimizers it has no update for");
  });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
