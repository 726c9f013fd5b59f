#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/gather_pool.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/sum_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Writes a bag's sums to one row of the output.
struct PoolStore {
  void* out;
  DType type;
  bool accumulate;

  template <class D, int K>
  HWY_INLINE void operator()(D d, std::int64_t column, const Block<K, D>& sums) const {
    switch (type) {
      case DType::fp32:
        return write<float>(d, column, sums);
      case DType::fp16:
        return write<Fp16>(d, column, sums);
      case DType::bf16:
        return write<Bf16>(d, column, sums);
    }
  }

  template <class Out, class D, int K>
  HWY_INLINE void write(D d, std::int64_t column, const Block<K, D>& sums) const {
    Out* to = static_cast<Out*>(out) + column;
    for (int k = 0; k < K; ++k, to += hn::Lanes(d)) {
      store(d, accumulate ? hn::Add(load(d, to), sums.v[k]) : sums.v[k], to);
    }
  }
};

template <class Row>
void pool_bags(const GatherPool& call) {
  ScatteredRows<Row> source{static_cast<const Row*>(call.rows), call.row_stride, call.ids,
                            call.key == KeyType::i64};
  source.use_weights(call.weights);
  for (std::int64_t bag = 0; bag < call.bags; ++bag) source.total += call.lengths[bag];
  const std::int64_t distance = prefetch_distance(call.width * bytes_of(call.row_type));
  const std::int64_t out_bytes = call.out_stride * bytes_of(call.out_type);
  auto* out = static_cast<std::uint8_t*>(call.out);
  std::int64_t first = 0;
  for (std::int64_t bag = 0; bag < call.bags; ++bag, out += out_bytes) {
    const std::int64_t end = first + call.lengths[bag];
    sum_rows(source, first, end, call.width, distance,
             PoolStore{out, call.out_type, call.accumulate});
    first = end;
  }
}

void gather_pool(const GatherPool& call) {
  with_value_type(call.row_type, [&](auto row) { pool_bags<decltype(row)>(call); });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(gather_pool);

void gather_pool(const GatherPool& call) {
  HWY_DYNAMIC_DISPATCH(gather_pool)(call);
}

}  // namespace shardscope::engine
#endif
