#include "engine/dense/metrics.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "engine/dense/loss.hpp"

namespace shardscope::engine {
namespace {

/// Every pair compared.
double auc_by_pairs(const std::vector<float>& scores, const std::vector<float>& labels) {
  double wins = 0;
  double pairs = 0;
  for (std::size_t p = 0; p < scores.size(); ++p) {
    for (std::size_t n = 0; n < scores.size(); ++n) {
      if (labels[p] < 0.5F || labels[n] > 0.5F) continue;
      pairs += 1;
      wins += scores[p] > scores[n] ? 1 : (scores[p] == scores[n] ? 0.5 : 0);
    }
  }
  return wins / pairs;
}

TEST(Auc, EqualsTheShareOfWonPairsWithTiesCountingHalf) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<float> scores;
    std::vector<float> labels;
    // Few distinct scores make many ties; the first two samples give both classes.
    const auto distinct = static_cast<int>(1 + random() % 40);
    for (std::size_t i = 0; i < 2 + random() % 200; ++i) {
      scores.push_back(static_cast<float>(static_cast<int>(random() % distinct) - 5));
      labels.push_back(i < 2 ? static_cast<float>(i) : static_cast<float>(random() % 2));
    }
    EXPECT_DOUBLE_EQ(exact_auc(scores, labels), auc_by_pairs(scores, labels));
  }
}

TEST(Auc, OfPerfectReversedAndConstantScores) {
  const std::vector<float> labels = {0, 0, 1, 1};
  EXPECT_EQ(exact_auc(std::vector<float>{1, 2, 3, 4}, labels), 1);
  EXPECT_EQ(exact_auc(std::vector<float>{4, 3, 2, 1}, labels), 0);
  EXPECT_EQ(exact_auc(std::vector<float>{7, 7, 7, 7}, labels), 0.5);
}

TEST(Auc, OfOneClassOrOfNoNumberIsNotANumber) {
  EXPECT_TRUE(std::isnan(exact_auc(std::vector<float>{1, 2}, std::vector<float>{1, 1})));
  EXPECT_TRUE(std::isnan(exact_auc({}, {})));
  EXPECT_TRUE(std::isnan(exact_auc(std::vector<float>{NAN, 2}, std::vector<float>{0, 1})));
}

TEST(LogLoss, IsTheMeanSurpriseAndStaysFiniteOnExtremeLogits) {
  EXPECT_DOUBLE_EQ(mean_log_loss(std::vector<float>{0, 0}, std::vector<float>{0, 1}), std::log(2));
  EXPECT_DOUBLE_EQ(logit_loss(1000, 0), 1000);
  EXPECT_DOUBLE_EQ(logit_loss(-1000, 0), 0);
  EXPECT_DOUBLE_EQ(logit_loss(-1000, 1), 1000);
  EXPECT_EQ(mean_log_loss({}, {}), 0);
}

TEST(LogLoss, GradientIsTheSlopeOverTheGlobalBatch) {
  const std::vector<float> logits = {-90, -2, 0, 0.5, 90};
  const std::vector<float> labels = {0, 1, 1, 0, 0};
  std::vector<float> gradient(5);
  logit_loss_gradient(logits.data(), labels.data(), 5, 20, gradient.data());
  for (std::size_t s = 0; s < 5; ++s) {
    const float h = 0x1p-6F;  // added to these logits without rounding
    const double slope =
        (logit_loss(logits[s] + h, labels[s]) - logit_loss(logits[s] - h, labels[s])) /
        (2 * static_cast<double>(h));
    EXPECT_NEAR(gradient[s], slope / 20, 1e-5);
  }
}

}  // namespace
}  // namespace shardscope::engine
