#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/reduce_update.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/reduce_row-inl.hpp"
#include "engine/cpu/update_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// The gradients of any type behind one call a row, so that the optimizers' code is not made once
/// for each of them.
struct ReduceCall {
  const void* gradients;
  void (*reduce)(const void* gradients, std::int64_t unique, float* out);
};

template <class Gradient>
void reduce_one(const void* gradients, std::int64_t unique, float* out) {
  static_cast<const GradientRows<Gradient>*>(gradients)->reduce(unique, out);
}

template <OptimizerKind kind, class Row>
void reduce_update_rows(const ReduceUpdate& call, const ReduceCall& gradients) {
  const OptimizerUpdate& update = call.update;
  const UpdateTerms terms(update);
  const std::int64_t unique_count = *call.reduce.unique_count;
  const std::int64_t width = call.reduce.width;
  for (std::int64_t u = 0; u < unique_count; ++u) {
    const std::int64_t ahead = u + kUpdatePrefetchRows;
    if (ahead < unique_count) prefetch_update<kind, Row>(update, update.unique_rows[ahead]);
    gradients.reduce(gradients.gradients, u, call.scratch);
    const float squares =
        kind == OptimizerKind::rowwise_adagrad ? row_square_sum(call.scratch, width) : 0.0F;
    for_column_blocks<1>(
        width, RowUpdate<kind, Row>(update, terms, update.unique_rows[u], call.scratch, squares));
  }
}

void reduce_update(const ReduceUpdate& call) {
  with_value_type(call.reduce.gradient_type, [&](auto type) {
    using Gradient = decltype(type);
    const GradientRows<Gradient> rows(call.reduce, *call.reduce.unique_count);
    const ReduceCall gradients{&rows, &reduce_one<Gradient>};
    with_update_types(call.update, [&](auto kind, auto row) {
      reduce_update_rows<decltype(kind)::value, decltype(row)>(call, gradients);
    });
  });
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
