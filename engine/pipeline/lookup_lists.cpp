#include "engine/pipeline/lookup_lists.hpp"

#include <algorithm>

namespace shardscope::engine {

void LookupLists::clear() {
  bag_scales.clear();
  pool.clear();
  copy.clear();
  scale.clear();
}

void LookupLists::add(const RunPlan& plan, const RankMemory& memory, std::int32_t f,
                      const FeatureView& input, const LookupSource& source) {
  const Feature& feature = plan.feature(f);
  const FeatureMemory& place = memory.feature(f);
  const auto bags = input.bags;
  const float* weights = feature.weighted ? input.weights : nullptr;
  if (!is_pooled(feature.pooling)) {
    copy.push_back({source.rows, source.type, source.dim, source.dim, input.count, source.ids,
                    source.key, place.output, DType::fp32, source.dim});
    if (weights != nullptr) {
      scale.push_back({place.output, source.dim, input.count, source.dim, weights});
    }
    return;
  }
  GatherPool call;
  call.rows = source.rows;
  call.row_type = source.type;
  call.row_stride = source.dim;
  call.width = source.dim;
  call.bags = bags;
  call.lengths = input.lengths;
  call.ids = source.ids;
  call.key = source.key;
  call.weights = weights;
  call.out = place.output;
  call.out_stride = source.dim;
  pool.push_back(call);
  if (feature.pooling != Pooling::mean) return;
  bag_scales.push_back({bags, input.lengths, place.bag_scale});
  scale.push_back({place.output, source.dim, bags, source.dim, place.bag_scale});
}

void LookupLists::enqueue_scales(Ops& ops, Stream& stream) const {
  ops.bag_scale(stream, bag_scales);
}

void LookupLists::enqueue_lookups(Ops& ops, Stream& stream) const {
  ops.gather_pool(stream, pool);
  ops.gather_rows(stream, copy);
  ops.scale_rows(stream, scale);
}

bool has_occurrence_weights(const RunPlan& plan, std::int32_t table) {
  const std::vector<std::int32_t>& readers = plan.features_of(table);
  return std::any_of(readers.begin(), readers.end(), [&](std::int32_t f) {
    return plan.feature(f).weighted || plan.feature(f).pooling == Pooling::mean;
  });
}

ExpandBags expand_feature(const RunPlan& plan, const RankMemory& memory, std::int32_t f,
                          const FeatureView& input, std::uint32_t* gradient_row,
                          float* weights_out) {
  const Feature& feature = plan.feature(f);
  const FeatureMemory& place = memory.feature(f);
  const bool pooled = is_pooled(feature.pooling);
  ExpandBags call;
  call.bags = pooled ? input.bags : input.count;
  call.lengths = pooled ? input.lengths : nullptr;
  call.first_row = static_cast<std::uint32_t>(place.first_row);
  call.weights = feature.weighted ? input.weights : nullptr;
  call.scale = place.bag_scale;
  call.gradient_row = gradient_row;
  call.weights_out = weights_out;
  return call;
}

}  // namespace shardscope::engine
