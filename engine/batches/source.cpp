#include <utility>

#include "engine/batches/batch.hpp"
#include "engine/batches/check_source.hpp"
#include "engine/batches/feature_source.hpp"
#include "engine/batches/task.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {
namespace {

/// Evaluation samples are those of iterations that no training run reaches.
constexpr std::int64_t kEvaluationIterations = std::int64_t{1} << 40;

class FeatureWiseSource final : public BatchSource {
 public:
  FeatureWiseSource(const Workload& workload, std::uint64_t seed, Split split,
                    std::vector<std::unique_ptr<FeatureSource>> features)
      : key_(workload.key),
        global_batch_(workload.global_batch),
        first_iteration_(split == Split::evaluation ? kEvaluationIterations : 0),
        has_dense_(workload.dense.interaction != Interaction::none),
        features_(std::move(features)),
        task_(workload, seed) {
    for (const Feature& feature : workload.features) tables_.push_back(feature.table);
  }

  [[nodiscard]] Result<RankBatch> make(std::int64_t iteration, std::int32_t rank,
                                       std::int32_t ranks) const override {
    SHARDSCOPE_CHECK(iteration >= 0 && rank >= 0 && rank < ranks, "a rank of this world");
    RankBatch batch;
    batch.iteration = iteration;
    batch.samples = samples_of_rank(global_batch_, rank, ranks);
    const SampleRange samples{first_iteration_ + iteration,
                              first_sample_of_rank(global_batch_, rank, ranks), batch.samples};
    for (const auto& feature : features_) {
      FeatureBatch& part = batch.features.emplace_back();
      part.ids.type = key_;
      if (auto status = feature->fill(samples, part); !status) {
        return fail(std::move(status.error()));
      }
    }
    if (has_dense_) {
      task_.fill(samples.iteration, samples.first, batch);
    } else {
      batch.labels.assign(static_cast<std::size_t>(batch.samples), 0.0F);
    }
    return batch;
  }

  [[nodiscard]] std::int64_t out_of_range() const override {
    std::int64_t sum = 0;
    for (const auto& feature : features_) sum += feature->out_of_range();
    return sum;
  }

  [[nodiscard]] std::int64_t out_of_range_of_table(std::int32_t table) const override {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      if (tables_[i] == table) sum += features_[i]->out_of_range();
    }
    return sum;
  }

 private:
  KeyType key_;
  std::int64_t global_batch_;
  std::int64_t first_iteration_;
  bool has_dense_;
  std::vector<std::unique_ptr<FeatureSource>> features_;
  std::vector<std::int32_t> tables_;  ///< of each feature
  HiddenTask task_;
};

}  // namespace

Result<std::unique_ptr<BatchSource>> make_batch_source(const Workload& workload, std::uint64_t seed,
                                                       [[maybe_unused]] RangePolicy policy,
                                                       Split split) {
  if (auto status = check_batchable(workload, physical_memory_bytes()); !status) {
    return fail(std::move(status.error()));
  }
  std::vector<std::unique_ptr<FeatureSource>> features;
  for (std::size_t i = 0; i < workload.features.size(); ++i) {
    if (workload.features[i].ids.kind == IdDistributionKind::recorded) {
      return fail({ErrorKind::usage, "recorded streams are not read", workload.features[i].name,
                   "a synthetic distribution", "Choose another distribution"});
    }
    auto feature = make_synthetic_feature(workload, static_cast<std::int32_t>(i), seed);
    if (!feature) return fail(std::move(feature.error()));
    features.push_back(std::move(*feature));
  }
  return std::make_unique<FeatureWiseSource>(workload, seed, split, std::move(features));
}

}  // namespace shardscope::engine
