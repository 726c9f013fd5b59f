#pragma once
// A synthetic task that can be learned and whose best possible AUC is known.

#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"
#include "layout/result.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// The task: label ~ Bernoulli(sigmoid(logit)). Every (table, row) has a hidden effect and every
/// dense feature a hidden coefficient, about standard normal, from a hash of the seed. A feature
/// contributes the weighted sum of its rows' effects over sqrt(expected length) for sum and concat,
/// its weighted mean times sqrt(expected length) for mean and sequence (as the dense part sees
/// them), over its num_poolings bags; contributions are scaled so that the logit of independent
/// effects has standard deviation kLogitDeviation, half of the variance from dense inputs where
/// there are any. The logit is linear in what pooled embeddings can represent, so a model of the
/// workload's own form can approach the ceiling as far as it sees rows often enough.
class HiddenTask {
 public:
  static constexpr double kLogitDeviation = 2.0;

  HiddenTask(const Workload& workload, std::uint64_t seed);

  /// Fills dense inputs and labels of a batch whose features are filled. `first` is its first
  /// sample in the global batch. Draws depend on (seed, iteration, sample).
  void fill(std::int64_t iteration, std::int64_t first, RankBatch& batch) const;

  /// True probability of label 1 of every sample of a batch whose dense inputs are filled.
  [[nodiscard]] std::vector<double> probabilities(const RankBatch& batch) const;

  /// Hidden effect of a table's row.
  [[nodiscard]] double effect(std::int32_t table, std::int64_t row) const;

 private:
  struct Term {
    std::int32_t table = 0;
    std::int32_t bags_per_sample = 1;
    bool by_mean = false;
    double scale = 1;
  };
  void add_feature(const Term& term, const FeatureBatch& batch, std::vector<double>& logits) const;

  std::uint64_t seed_;
  std::vector<Term> terms_;
  std::vector<double> coefficients_;  ///< of the dense inputs, already scaled
};

/// AUC of ranking by the true probabilities when labels follow them: the expected share of
/// (1, 0) pairs in the right order, ties half. In 0.5..1; 0.5 where one class cannot occur.
[[nodiscard]] double auc_of_probabilities(std::vector<double> probabilities);

/// Best AUC any model can reach on the synthetic task of this workload and seed, estimated from the
/// true probabilities of at least `samples` fresh samples (of iterations no training run reaches).
[[nodiscard]] Result<double> ceiling_auc(const Workload& workload, std::uint64_t seed,
                                         std::int64_t samples);

}  // namespace shardscope::engine
