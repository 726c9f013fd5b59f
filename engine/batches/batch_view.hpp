#pragma once
// A batch as kernels read it: where its parts stand, on the host or on a device.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"

namespace shardscope::engine {

/// One feature of a RankBatch.
struct FeatureView {
  std::int64_t bags = 0;
  const std::int32_t* lengths = nullptr;  ///< by bag
  std::int64_t count = 0;                 ///< ids
  const void* ids = nullptr;              ///< in the workload's key type
  const float* weights = nullptr;         ///< as ids, or null
};

/// Sizes are the host's to read; what pointers lead to is the device's.
struct BatchView {
  std::int64_t samples = 0;
  std::vector<FeatureView> features;  ///< in workload order
  const float* dense = nullptr;       ///< samples x dense_features
  const float* labels = nullptr;      ///< samples

  [[nodiscard]] const FeatureView& feature(std::int32_t f) const {
    return features[static_cast<std::size_t>(f)];
  }
};

/// Of the batch where it stands; valid as long as it does.
[[nodiscard]] BatchView view_of(const RankBatch& batch);

}  // namespace shardscope::engine
