#pragma once
// One rank's arena with the views that several stages share.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/pipeline/arena.hpp"
#include "engine/pipeline/run_plan.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

/// Where a feature's forward output and its gradient stand: rows x dim, fp32.
struct FeatureMemory {
  std::int64_t first_row = 0;  ///< of the feature in its table's output buffer
  std::int64_t row_capacity = 0;
  float* output = nullptr;
  float* gradient = nullptr;
  float* bag_scale = nullptr;  ///< 1 / bag length; mean only, else null
};

/// Weights and state of one shard; row = column = 0 for a DP table's replica.
struct ShardMemory {
  std::int32_t table = 0;
  std::int32_t row = 0;
  std::int32_t column = 0;
  std::int64_t rows = 0;
  std::int32_t width = 0;
  std::int32_t first_column = 0;
  void* weights = nullptr;
  float* state = nullptr;
};

class RankMemory {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankMemory>> create(const RunPlan& plan,
                                                                  std::int32_t rank);

  [[nodiscard]] std::int32_t rank() const { return rank_; }
  [[nodiscard]] Arena& arena() { return *arena_; }
  [[nodiscard]] const Arena& arena() const { return *arena_; }
  [[nodiscard]] const FeatureMemory& feature(std::int32_t f) const {
    return features_[static_cast<std::size_t>(f)];
  }
  /// Sizes of a cluster's exchange of square sums by rank, which the device writes and the host
  /// reads.
  [[nodiscard]] std::int64_t* square_sum_sizes(ClusterType cluster);
  /// All shards of the rank by table, row, column.
  [[nodiscard]] const std::vector<ShardMemory>& shards() const { return shards_; }
  [[nodiscard]] const ShardMemory& shard(std::int32_t table, std::int32_t row,
                                         std::int32_t column) const;
  /// The outputs (or gradients) of all features of a table, one after the other.
  [[nodiscard]] float* table_output(std::int32_t table) {
    return arena_->get<float>("output", table);
  }
  [[nodiscard]] float* table_gradient(std::int32_t table) {
    return arena_->get<float>("output_gradient", table);
  }

 private:
  RankMemory() = default;
  [[nodiscard]] Status place_sizes(const RunPlan& plan);
  void place_features(const RunPlan& plan);
  void place_shards(const RunPlan& plan);

  std::int32_t rank_ = 0;
  std::unique_ptr<Arena> arena_;
  std::vector<std::int64_t> host_sizes_;  ///< where the device is the cpu
  std::shared_ptr<std::byte> device_sizes_;
  std::int32_t ranks_ = 0;
  std::vector<FeatureMemory> features_;
  std::vector<ShardMemory> shards_;
};

}  // namespace shardscope::engine
