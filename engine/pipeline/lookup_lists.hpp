#pragma once
// Calls that DP and UB share: both pool or lay out a feature's rows at the consumer and reduce its
// gradients there.

#include <cstdint>
#include <vector>

#include "engine/batches/batch_view.hpp"
#include "engine/device.hpp"
#include "engine/pipeline/rank_memory.hpp"
#include "engine/pipeline/run_plan.hpp"

namespace shardscope::engine {

/// Rows that a feature's ids read: a DP replica, or the rows UB has fetched.
struct LookupSource {
  const void* rows = nullptr;
  DType type = DType::fp32;
  std::int32_t dim = 0;
  const void* ids = nullptr;  ///< of this feature
  KeyType key = KeyType::i32;
};

/// Lists of the forward pass.
struct LookupLists {
  std::vector<BagScale> bag_scales;
  std::vector<GatherPool> pool;  ///< pooled features
  std::vector<GatherRows> copy;  ///< concat and sequence
  std::vector<ScaleRows> scale;  ///< means, and the weights of unpooled features

  void clear();
  /// Adds feature `f` of one rank's batch.
  void add(const RunPlan& plan, const RankMemory& memory, std::int32_t f, const FeatureView& input,
           const LookupSource& source);
  void enqueue_scales(Ops& ops, Stream& stream) const;
  void enqueue_lookups(Ops& ops, Stream& stream) const;
};

/// True where the occurrences of a table carry weights at the consumer: an id's own, or a mean's.
[[nodiscard]] bool has_occurrence_weights(const RunPlan& plan, std::int32_t table);

/// Gradient rows (in the table's gradient buffer) and weights of every id of feature `f`.
[[nodiscard]] ExpandBags expand_feature(const RunPlan& plan, const RankMemory& memory,
                                        std::int32_t f, const FeatureView& input,
                                        std::uint32_t* gradient_row, float* weights_out);

}  // namespace shardscope::engine
