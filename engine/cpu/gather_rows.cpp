#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/gather_rows.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/sum_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Copies one row, converted.
template <class Row, class Out>
struct RowCopy {
  const Row* from;
  Out* to;

  template <class D, int K>
  HWY_INLINE void operator()(D d, Count<K>, std::int64_t column) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (int k = 0; k < K; ++k, column += lanes) store(d, load(d, from + column), to + column);
  }
};

template <class Row, class Out>
void copy_rows(const GatherRows& call) {
  const ScatteredRows<Row> source{static_cast<const Row*>(call.rows), call.row_stride, call.ids,
                                  call.key == KeyType::i64};
  const std::int64_t row_bytes = call.width * bytes_of(call.row_type);
  const std::int64_t distance = prefetch_distance(row_bytes);
  Out* to = static_cast<Out*>(call.out);
  for (std::int64_t n = 0; n < call.count; ++n, to += call.out_stride) {
    if (n + distance < call.count) prefetch_bytes(source.row(n + distance), row_bytes);
    for_column_blocks<4>(call.width, RowCopy<Row, Out>{source.row(n), to});
  }
}

void gather_rows(const GatherRows& call) {
  with_value_type(call.row_type, [&](auto row) {
    with_value_type(call.out_type,
                    [&](auto out) { copy_rows<decltype(row), decltype(out)>(call); });
  });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(gather_rows);

void gather_rows(const GatherRows& call) {
  HWY_DYNAMIC_DISPATCH(gather_rows)(call);
}

}  // namespace shardscope::engine
#endif
