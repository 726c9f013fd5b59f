#pragma once
// Where one feature's ids come from. The batch source asks every feature for the same samples.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/batches/lengths.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// Evaluation batches are those of iterations that no training run reaches: iteration i of the
/// evaluation split is asked for as kEvaluationIterations + i.
inline constexpr std::int64_t kEvaluationIterations = std::int64_t{1} << 40;

/// The samples asked for: [first, first + count) of the global batch of `iteration`.
struct SampleRange {
  std::int64_t iteration = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Fills bags of one feature. Const and callable from several threads.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  /// Replaces all of `out`; its ids already have the key type.
  [[nodiscard]] virtual Status fill(const SampleRange& samples, FeatureBatch& out) const = 0;
  /// Ids outside the table met so far.
  [[nodiscard]] virtual std::int64_t out_of_range() const { return 0; }
};

/// A generator for a feature with any but a recorded distribution. Errors name table and feature.
[[nodiscard]] Result<std::unique_ptr<FeatureSource>> make_synthetic_feature(
    const Workload& workload, std::int32_t feature, std::uint64_t seed);

/// Sets the number of ids and calls write(index) -> row for each in order.
template <class Write>
void write_ids(Ids& ids, std::int64_t count, const Write& write) {
  const auto size = static_cast<std::size_t>(count);
  if (ids.type == KeyType::i32) {
    ids.i32.resize(size);
    for (std::size_t i = 0; i < size; ++i) ids.i32[i] = static_cast<std::int32_t>(write(i));
  } else {
    ids.i64.resize(size);
    for (std::size_t i = 0; i < size; ++i) ids.i64[i] = static_cast<std::int64_t>(write(i));
  }
}

/// Lengths of the bags of `samples`, bags_per_sample each, keyed by sample; returns their sum.
std::int64_t draw_lengths(const Lengths& lengths, std::uint64_t seed, std::uint32_t feature,
                          std::int32_t bags_per_sample, const SampleRange& samples,
                          std::vector<std::int32_t>& out);

/// Draws the weights of all ids of `out` (multiples of 1/8 in [1/8, 2]: few bits, so that sums of
/// dyadic values stay exact). Streams are keyed by sample.
void draw_weights(std::uint64_t seed, std::uint32_t feature, std::int32_t bags_per_sample,
                  const SampleRange& samples, FeatureBatch& out);

}  // namespace shardscope::engine
