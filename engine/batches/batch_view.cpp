#include "engine/batches/batch_view.hpp"

namespace shardscope::engine {

BatchView view_of(const RankBatch& batch) {
  BatchView view;
  view.samples = batch.samples;
  view.dense = batch.dense.data();
  view.labels = batch.labels.data();
  for (const FeatureBatch& feature : batch.features) {
    const Ids& ids = feature.ids;
    FeatureView& part = view.features.emplace_back();
    part.bags = static_cast<std::int64_t>(feature.lengths.size());
    part.lengths = feature.lengths.data();
    part.count = ids.size();
    part.ids = ids.type == KeyType::i32 ? static_cast<const void*>(ids.i32.data())
                                        : static_cast<const void*>(ids.i64.data());
    part.weights = feature.weights.empty() ? nullptr : feature.weights.data();
  }
  return view;
}

}  // namespace shardscope::engine
