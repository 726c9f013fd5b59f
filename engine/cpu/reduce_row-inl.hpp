// Gradient of one distinct row, and its square sum: what SegmentReduce and SquareSum share.
// Included once per instruction set.

#if defined(SHARDSCOPE_ENGINE_CPU_REDUCE_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CPU_REDUCE_ROW_INL
#undef SHARDSCOPE_ENGINE_CPU_REDUCE_ROW_INL
#else
#define SHARDSCOPE_ENGINE_CPU_REDUCE_ROW_INL
#endif

#include "engine/cpu/sum_rows-inl.hpp"
#include "engine/ops.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Scales the sums and writes them as fp32.
struct GradientStore {
  float* out;
  float factor;

  template <class D, int K>
  HWY_INLINE void operator()(D d, std::int64_t column, const Block<K, D>& sums) const {
    const auto scale = hn::Set(d, factor);
    float* to = out + column;
    for (int k = 0; k < K; ++k, to += hn::Lanes(d)) store(d, hn::Mul(scale, sums.v[k]), to);
  }
};

/// The gradients of a SegmentReduce, ready to be summed row by row.
template <class Row>
class GradientRows {
 public:
  HWY_INLINE GradientRows(const SegmentReduce& call, std::int64_t unique_count)
      : offsets_(call.offsets), width_(call.width), factor_(call.factor) {
    source_.rows = static_cast<const Row*>(call.gradients);
    source_.stride = call.stride;
    source_.index = call.gradient_row;
    source_.offsets = call.row_offset;
    source_.use_weights(call.weights);
    source_.total = offsets_[unique_count];
    distance_ = prefetch_distance(width_ * static_cast<std::int64_t>(sizeof(Row)));
  }

  HWY_INLINE void reduce(std::int64_t unique, float* out) const {
    sum_rows(source_, offsets_[unique], offsets_[unique + 1], width_, distance_,
             GradientStore{out, factor_});
  }

 private:
  ScatteredRows<Row> source_;
  const std::uint32_t* offsets_;
  std::int64_t width_;
  std::int64_t distance_ = 0;
  float factor_;
};

/// Adds the upper half of `count` sums to the lower.
template <int kCount>
HWY_INLINE void fold(float* sums) {
  const hn::CappedTag<float, kCount / 2> d;
  for (std::size_t l = 0; l < kCount / 2; l += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + l), hn::LoadU(d, sums + kCount / 2 + l)), d, sums + l);
  }
}

/// Sum of squares by 16 interleaved partial sums (column c adds to sum c mod 16) that are then
/// added in halves: one order for every vector length.
HWY_INLINE float row_square_sum(const float* gradient, std::int64_t width) {
  constexpr std::int64_t kSums = 16;
  const hn::CappedTag<float, kSums> d;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  constexpr auto kVectors = static_cast<int>(kSums / kLanes);
  Block<kVectors, decltype(d)> partial;
  for (int k = 0; k < kVectors; ++k) partial.v[k] = hn::Zero(d);
  std::int64_t column = 0;
  for (; column + kSums <= width; column += kSums) {
    for (int k = 0; k < kVectors; ++k) {
      const auto value = hn::LoadU(d, gradient + column + k * kLanes);
      partial.v[k] = hn::Add(partial.v[k], hn::Mul(value, value));
    }
  }
  HWY_ALIGN float sums[kSums];
  for (int k = 0; k < kVectors; ++k) hn::Store(partial.v[k], d, sums + k * kLanes);
  for (std::int64_t c = column; c < width; ++c) sums[c - column] += gradient[c] * gradient[c];
  fold<16>(sums);
  fold<8>(sums);
  fold<4>(sums);
  return sums[0] + sums[1];
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
