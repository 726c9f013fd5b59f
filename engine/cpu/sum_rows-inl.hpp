// The inner loop that pooling and gradient reduction share: a weighted sum of scattered rows, kept
// in registers. Included once per instruction set.

#if defined(SHARDSCOPE_ENGINE_CPU_SUM_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDSCOPE_ENGINE_CPU_SUM_ROWS_INL
#undef SHARDSCOPE_ENGINE_CPU_SUM_ROWS_INL
#else
#define SHARDSCOPE_ENGINE_CPU_SUM_ROWS_INL
#endif

#include <algorithm>

#include "engine/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Accumulators of one block: as many as the registers hold beside a loaded row and a weight.
inline constexpr int kSumVectors = 8;

/// Without weights rows are added straight from memory: accumulators may take every register.
inline constexpr int kPlainSumVectors = 16;

/// How far ahead rows are fetched. Measured on rows of 512 bytes: 12 to 24 rows are alike and twice
/// as fast as none; 4 and 48 lose a tenth.
inline constexpr std::int64_t kSumPrefetchBytes = 8192;
inline constexpr std::int64_t kSumPrefetchRows = 32;

/// Rows to fetch ahead of the current one for rows of that many bytes.
HWY_INLINE std::int64_t prefetch_distance(std::int64_t row_bytes) {
  return std::clamp<std::int64_t>(kSumPrefetchBytes / row_bytes, 2, kSumPrefetchRows);
}

/// The weight of every row where none are given; a product with it is exact.
inline constexpr float kNoWeight = 1;

/// Rows in the order of an index list. The choices are branches, always taken alike, and not
/// template parameters: next to reading a row they cost nothing, and every one of them would double
/// the code of every instruction set.
template <class RowType>
struct ScatteredRows {
  using Row = RowType;
  const Row* rows = nullptr;
  std::int64_t stride = 0;
  const void* index = nullptr;            ///< not negative
  bool wide_index = false;                ///< 8 bytes an index, else 4
  const std::int64_t* offsets = nullptr;  ///< start of each indexed row, or null: index * stride
  const float* weights = &kNoWeight;
  std::int64_t weight_step = 0;
  std::int64_t total = 0;

  HWY_INLINE void use_weights(const float* given) {
    if (given == nullptr) return;
    weights = given;
    weight_step = 1;
  }
  HWY_INLINE const Row* row(std::int64_t n) const {
    const std::int64_t at =
        wide_index ? static_cast<const std::int64_t*>(index)[n]
                   : static_cast<std::int64_t>(static_cast<const std::uint32_t*>(index)[n]);
    return rows + (offsets != nullptr ? offsets[at] : at * stride);
  }
  HWY_INLINE float weight(std::int64_t n) const { return weights[n * weight_step]; }
};

/// Sums rows [begin, end) and hands each block of columns to Store:
/// operator()(d, column, Block).
template <bool kWeighted, class Row, class Store>
class RowSum {
 public:
  HWY_INLINE RowSum(const ScatteredRows<Row>& source, std::int64_t begin, std::int64_t end,
                    std::int64_t width, std::int64_t distance, const Store& store)
      : source_(source),
        begin_(begin),
        end_(end),
        row_bytes_(width * static_cast<std::int64_t>(sizeof(Row))),
        distance_(distance),
        store_(store) {}

  template <class D, int K>
  HWY_INLINE void operator()(D d, Count<K>, std::int64_t column) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    // The first block fetches whole rows; the others find them in the first-level cache.
    const std::int64_t fetch_end = column == 0 ? source_.total - distance_ : begin_;
    Block<K, D> sums;
    for (int k = 0; k < K; ++k) sums.v[k] = hn::Zero(d);
    for (std::int64_t n = begin_; n < end_; ++n) {
      if (n < fetch_end) prefetch_bytes(source_.row(n + distance_), row_bytes_);
      const Row* row = source_.row(n) + column;
      if constexpr (kWeighted) {
        const auto weight = hn::Set(d, source_.weight(n));
        for (int k = 0; k < K; ++k) {
          sums.v[k] = hn::Add(sums.v[k], hn::Mul(weight, load(d, row + k * lanes)));
        }
      } else {
        for (int k = 0; k < K; ++k) sums.v[k] = hn::Add(sums.v[k], load(d, row + k * lanes));
      }
    }
    store_(d, column, sums);
  }

 private:
  const ScatteredRows<Row>& source_;
  std::int64_t begin_, end_, row_bytes_, distance_;
  const Store& store_;
};

template <class Row, class Store>
HWY_INLINE void sum_rows(const ScatteredRows<Row>& source, std::int64_t begin, std::int64_t end,
                         std::int64_t width, std::int64_t distance, const Store& store) {
  if (source.weight_step != 0) {
    for_column_blocks<kSumVectors>(
        width, RowSum<true, Row, Store>(source, begin, end, width, distance, store));
  } else {
    for_column_blocks<kPlainSumVectors>(
        width, RowSum<false, Row, Store>(source, begin, end, width, distance, store));
  }
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
