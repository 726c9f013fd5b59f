#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/optimizer_update.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/update_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

template <OptimizerKind kind, class Row>
void update_rows(const OptimizerUpdate& call) {
  const UpdateTerms terms(call);
  const std::int64_t unique_count = *call.unique_count;
  const std::int64_t* rows = call.unique_rows;
  for (std::int64_t u = 0; u < unique_count; ++u) {
    const std::int64_t ahead = u + kUpdatePrefetchRows;
    if (rows != nullptr && ahead < unique_count) prefetch_update<kind, Row>(call, rows[ahead]);
    const float squares = kind == OptimizerKind::rowwise_adagrad ? call.row_square_sum[u] : 0.0F;
    for_column_blocks<1>(call.width,
                         RowUpdate<kind, Row>(call, terms, rows != nullptr ? rows[u] : u,
                                              call.gradients + u * call.width, squares));
  }
}

void optimizer_update(const OptimizerUpdate& call) {
  with_update_types(
      call, [&](auto kind, auto row) { update_rows<decltype(kind)::value, decltype(row)>(call); });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(optimizer_update);

void optimizer_update(const OptimizerUpdate& call) {
  HWY_DYNAMIC_DISPATCH(optimizer_update)(call);
}

}  // namespace shardscope::engine
#endif
