#include "engine/batches/task.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shardscope::engine {
namespace {

Workload learnable_workload(std::int32_t dense) {
  Workload workload;
  workload.name = "learnable";
  workload.global_batch = 4096;
  for (int i = 0; i < 4; ++i) {
    Table table;
    table.name = fmt::format("table{}", i);
    table.rows = 500;
    table.dim = 4;
    workload.tables.push_back(table);
    Feature feature;
    feature.name = fmt::format("feature{}", i);
    feature.table = i;
    feature.ids.kind = IdDistributionKind::uniform;
    feature.hotness = Hotness::fixed(i + 1);
    feature.pooling = i == 3 ? Pooling::mean : Pooling::sum;
    workload.features.push_back(feature);
  }
  workload.dense.interaction = Interaction::dot;
  workload.dense.dense_features = dense;
  return workload;
}

TEST(HiddenTask, LabelsFollowTheTrueProbabilities) {
  const Workload workload = learnable_workload(3);
  const auto source = make_batch_source(workload, 3, RangePolicy::error);
  ASSERT_TRUE(source.has_value());
  const HiddenTask task(workload, 3);
  // Calibration in ten bins of predicted probability over 20 batches.
  double expected[10] = {};
  double variance[10] = {};
  double observed[10] = {};
  for (int iteration = 0; iteration < 20; ++iteration) {
    const auto batch = (*source)->make(iteration, 0, 1);
    const auto probability = task.probabilities(*batch);
    for (std::size_t i = 0; i < probability.size(); ++i) {
      const auto bin = static_cast<std::size_t>(std::min(9.0, probability[i] * 10));
      expected[bin] += probability[i];
      variance[bin] += probability[i] * (1 - probability[i]);
      observed[bin] += static_cast<double>(batch->labels[i]);
    }
  }
  for (int bin = 0; bin < 10; ++bin) {
    EXPECT_NEAR(observed[bin], expected[bin], 4.75 * std::sqrt(variance[bin])) << "bin " << bin;
  }
}

TEST(HiddenTask, LogitsHaveTheStatedSpread) {
  for (const std::int32_t dense : {0, 13}) {
    // Averaged over hidden tasks, because one task's coefficients are a small sample themselves.
    double squares = 0;
    double count = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Workload workload = learnable_workload(dense);
      const auto source = make_batch_source(workload, seed, RangePolicy::error);
      const auto batch = (*source)->make(0, 0, 1);
      for (const double p : HiddenTask(workload, seed).probabilities(*batch)) {
        const double logit = std::log(p / (1 - p));
        squares += logit * logit;
        count += 1;
      }
    }
    EXPECT_NEAR(std::sqrt(squares / count), HiddenTask::kLogitDeviation, 0.25) << dense;
  }
}

TEST(AucOfProbabilities, CountsPairsAsTheirExpectation) {
  EXPECT_DOUBLE_EQ(auc_of_probabilities({0.3, 0.3, 0.3}), 0.5);
  EXPECT_DOUBLE_EQ(auc_of_probabilities({0.0, 0.0, 1.0}), 1.0);
  EXPECT_DOUBLE_EQ(auc_of_probabilities({0.2, 0.6}), 0.6 * 0.8 / (0.6 * 0.8 + 0.2 * 0.4));
  EXPECT_DOUBLE_EQ(auc_of_probabilities({}), 0.5);
  EXPECT_DOUBLE_EQ(auc_of_probabilities({1.0, 1.0}), 0.5);
}

/// AUC of a score against labels, by sorting; ties in the score do not occur here.
double empirical_auc(std::vector<std::pair<double, float>> scored) {
  std::sort(scored.begin(), scored.end());
  double negatives = 0;
  double positives = 0;
  double ordered = 0;
  for (const auto& [score, label] : scored) {
    if (label > 0) {
      positives += 1;
      ordered += negatives;
    } else {
      negatives += 1;
    }
  }
  return ordered / (positives * negatives);
}

TEST(CeilingAuc, IsWhatTheTrueProbabilitiesReachOnLabels) {
  const Workload workload = learnable_workload(3);
  const auto ceiling = ceiling_auc(workload, 3, 40'000);
  ASSERT_TRUE(ceiling.has_value());
  const auto source = make_batch_source(workload, 3, RangePolicy::error);
  const HiddenTask task(workload, 3);
  std::vector<std::pair<double, float>> scored;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const auto batch = (*source)->make(iteration, 0, 1);
    const auto probability = task.probabilities(*batch);
    for (std::size_t i = 0; i < probability.size(); ++i) {
      scored.emplace_back(probability[i], batch->labels[i]);
    }
  }
  // Standard error of an AUC near 0.85 on 2 x 20,000 labels is below 0.002 (Hanley and McNeil).
  EXPECT_NEAR(empirical_auc(std::move(scored)), *ceiling, 4.75 * 0.002);
  EXPECT_GT(*ceiling, 0.75);
  EXPECT_LT(*ceiling, 0.95);
}

TEST(CeilingAuc, IsReproducibleFromTheSeed) {
  const Workload workload = learnable_workload(2);
  EXPECT_EQ(*ceiling_auc(workload, 8, 5000), *ceiling_auc(workload, 8, 5000));
  EXPECT_NE(*ceiling_auc(workload, 8, 5000), *ceiling_auc(workload, 9, 5000));
}

}  // namespace
}  // namespace shardscope::engine
