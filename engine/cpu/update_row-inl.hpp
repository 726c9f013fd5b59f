// One row's optimizer step: what OptimizerUpdate and ReduceUpdate share. Included once per
// instruction set.

#if defined(SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#undef SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#else
#define SHARDSCOPE_ENGINE_CPU_UPDATE_ROW_INL
#endif

#include "engine/cpu/lanes-inl.hpp"
#include "engine/cpu/rounding.hpp"
#include "engine/cpu/update_terms.hpp"
#include "engine/ops.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Random bits of neighbouring columns of a row: rounding_bits of rounding.hpp.
template <class D>
HWY_INLINE hn::Vec<Words<D>> lane_rounding_bits(D, std::uint64_t key, std::uint32_t column) {
  const Words<D> du;
  const auto columns = hn::Iota(du, column);
  auto x = hn::Xor(hn::Set(du, static_cast<std::uint32_t>(key)),
                   hn::Mul(columns, hn::Set(du, 0x9e3779b9U)));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352dU));
  x = hn::Add(hn::Xor(x, hn::ShiftRight<15>(x)),
              hn::Set(du, static_cast<std::uint32_t>(key >> 32)));
  x = hn::Mul(x, hn::Set(du, 0x846ca68bU));
  return hn::Xor(x, hn::ShiftRight<16>(x));
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
  const auto finite = hn::Lt(magnitude, hn::Set(du, 0x7f800000U));
  const auto kept = hn::And(hn::Add(bits, random), hn::Set(du, 0xffff0000U));
  store(d, hn::BitCast(d, hn::IfThenElse(finite, kept, bits)), to);
}

template <class D>
HWY_INLINE void store_rounded(D d, hn::Vec<D> value, std::uint64_t key, std::uint32_t column,
                              Fp16* to) {
  const Words<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, value);
  const auto random = lane_rounding_bits(d, key, column);
  const auto sign = hn::And(bits, hn::Set(du, 0x80000000U));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffU));
  const auto normal =
      hn::And(hn::Add(magnitude, hn::ShiftRight<19>(random)), hn::Set(du, 0xffffe000U));
  // Below 2^-14 the neighbours are 2^-24 apart.
  const auto small = hn::Lt(magnitude, hn::Set(du, 0x38800000U));
  const auto units = hn::IfThenElseZero(hn::RebindMask(d, small),
                                        hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p24F)));
  const auto whole = hn::ConvertTo(d, hn::ConvertTo(di, units));
  const auto threshold =
      hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(random))), hn::Set(d, 0x1p-24F));
  const auto up = hn::IfThenElseZero(hn::Gt(hn::Sub(units, whole), threshold), hn::Set(d, 1.0F));
  const auto subnormal = hn::BitCast(du, hn::Mul(hn::Add(whole, up), hn::Set(d, 0x1p-24F)));
  const auto special = hn::Gt(magnitude, hn::Set(du, 0x477fffffU));
  auto rounded = hn::IfThenElse(small, subnormal, normal);
  rounded = hn::IfThenElse(special, magnitude, rounded);
  store(d, hn::BitCast(d, hn::Or(rounded, sign)), to);
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
      key_ = rounding_key(call.seed, call.table, row * call.row_scale + call.row_base, call.step);
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
