#pragma once
// Random inputs of gradient reduction and optimizer updates, with references written for clarity.

#include <cstdint>
#include <vector>

#include "engine/ops.hpp"
#include "tests/engine/cpu/kernel_cases.hpp"

namespace shardscope::engine::testing {

/// Distinct rows of a shard and the gradients of their occurrences.
struct GradientCase {
  GradientCase(Random& random, bool dyadic);

  [[nodiscard]] SegmentReduce call() const;
  /// unique x width by plain loops.
  [[nodiscard]] std::vector<float> reduced() const;
  void reduce_into(std::vector<float>& out) const;

  std::int32_t width;
  std::int64_t shard_rows;
  std::int64_t unique;
  std::vector<std::int64_t> unique_rows;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> gradient_row;
  std::vector<float> weights;
  std::vector<std::int64_t> row_offset;
  std::int64_t stride = 0;
  float factor = 1;
  Values gradients;
};

/// A shard's weights and state with an optimizer.
struct UpdateCase {
  UpdateCase(Random& random, const GradientCase& gradients);

  void apply_reference(const std::vector<float>& reduced);
  /// segment_reduce, square_sum and optimizer_update.
  void apply_kernels(const GradientCase& gradients);

  [[nodiscard]] OptimizerUpdate call(const GradientCase& gradients);

  Optimizer optimizer;
  OptimizerUpdate settings;
  std::vector<std::int64_t> unique_rows;
  std::int64_t width;
  Values rows;
  std::vector<float> state;
};

}  // namespace shardscope::engine::testing
