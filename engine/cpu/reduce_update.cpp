#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/reduce_update.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/reduce_row-inl.hpp"
#include "engine/cpu/update_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Gradients of rows [first, end) to `out`, and their square sums where wanted.
template <class Gradient>
void reduce_block(const GradientRows<Gradient>& gradients, std::int64_t first, std::int64_t end,
                  std::int64_t width, float* out, float* squares) {
  for (std::int64_t u = first; u < end; ++u) gradients.reduce(u, out + (u - first) * width);
  if (squares == nullptr) return;
  for (std::int64_t u = 0; u < end - first; ++u)
    squares[u] = row_square_sum(out + u * width, width);
}

/// Updates rows [first, end) of the call's list.
template <OptimizerKind kind, class Row>
void update_block(const OptimizerUpdate& call, const UpdateTerms& terms, std::int64_t unique_count,
                  std::int64_t first, std::int64_t end, const float* gradients,
                  const float* squares) {
  for (std::int64_t u = first; u < end; ++u, gradients += call.width) {
    const std::int64_t ahead = u + kUpdatePrefetchRows;
    if (ahead < unique_count) prefetch_update<kind, Row>(call, call.unique_rows[ahead]);
    const float square = kind == OptimizerKind::rowwise_adagrad ? squares[u - first] : 0.0F;
    for_column_blocks<1>(call.width,
                         RowUpdate<kind, Row>(call, terms, call.unique_rows[u], gradients, square));
  }
}

/// Alternates between reducing a block of rows and updating it: each half is a plain loop whose
/// fetches run ahead, also into the next block.
template <class Gradient>
void reduce_update_blocks(const ReduceUpdate& call) {
  const std::int64_t unique_count = *call.reduce.unique_count;
  const std::int64_t width = call.reduce.width;
  const std::int64_t block = shardscope::reduce_update_rows(width);
  const GradientRows<Gradient> gradients(call.reduce, unique_count);
  const UpdateTerms terms(call.update);
  const bool wants_squares = call.update.optimizer.kind == OptimizerKind::rowwise_adagrad;
  float* squares = call.scratch + block * width;
  for (std::int64_t first = 0; first < unique_count; first += block) {
    const std::int64_t end = std::min(first + block, unique_count);
    reduce_block(gradients, first, end, width, call.scratch, wants_squares ? squares : nullptr);
    with_update_types(call.update, [&](auto kind, auto row) {
      update_block<decltype(kind)::value, decltype(row)>(call.update, terms, unique_count, first,
                                                         end, call.scratch, squares);
    });
  }
}

void reduce_update(const ReduceUpdate& call) {
  with_value_type(call.reduce.gradient_type,
                  [&](auto type) { reduce_update_blocks<decltype(type)>(call); });
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardscope::engine {

HWY_EXPORT(reduce_update);

void reduce_update(const ReduceUpdate& call) {
  HWY_DYNAMIC_DISPATCH(reduce_update)(call);
}

}  // namespace shardscope::engine
#endif
