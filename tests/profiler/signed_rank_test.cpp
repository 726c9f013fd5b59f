#include "profiler/signed_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace shardscope {
namespace {

std::vector<double> all_pairwise_means(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) means.push_back((values[i] + values[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  return means;
}

TEST(SignedRank, CutMatchesPublishedCriticalValues) {
  // Two-sided 5 % table of the signed-rank test: 6 -> 0, 8 -> 3, 10 -> 8, 15 -> 25, 20 -> 52.
  EXPECT_EQ(signed_rank_cut(6, 0.05), 0u);
  EXPECT_EQ(signed_rank_cut(8, 0.05), 3u);
  EXPECT_EQ(signed_rank_cut(10, 0.05), 8u);
  EXPECT_EQ(signed_rank_cut(15, 0.05), 25u);
  EXPECT_EQ(signed_rank_cut(20, 0.05), 52u);
}

TEST(SignedRank, NormalCutIsAtMostOneOnTheCautiousSideOfTheTable) {
  for (const auto& [n, published] : {std::pair<std::size_t, std::size_t>{25, 89}, {50, 434}}) {
    const std::size_t cut = signed_rank_cut(n, 0.05).value();
    EXPECT_LE(cut, published);
    EXPECT_GE(cut + 1, published);
  }
}

TEST(SignedRank, FiveDifferencesNeverGiveNinetyFivePercent) {
  EXPECT_FALSE(signed_rank_cut(5, 0.05).has_value());
  EXPECT_FALSE(signed_rank_cut(0, 0.05).has_value());
  EXPECT_FALSE(signed_rank_interval(std::vector<double>(5, 1.0), 0.05).has_value());
}

TEST(SignedRank, PairwiseMeanEqualsTheSortedListOfAllMeans) {
  const std::uint64_t seed = 20240611;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0.1, 2.0);
  for (std::size_t n : {1u, 2u, 3u, 7u, 20u, 41u}) {
    std::vector<double> values(n);
    for (double& value : values) value = normal(random);
    if (n > 5) values[3] = values[1];
    std::sort(values.begin(), values.end());
    const std::vector<double> means = all_pairwise_means(values);
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_NEAR(pairwise_mean_at(values, i), means[i], 1e-14) << "seed " << seed << " n " << n;
    }
  }
}

TEST(SignedRank, IntervalHasTheOrderStatisticsOfTheTextbook) {
  const std::vector<double> values = {1.1, -0.2, 0.4, 2.5, 0.9, 1.7, 0.1, 0.6, 1.3, -0.5};
  const std::vector<double> means = all_pairwise_means(values);
  const auto interval = signed_rank_interval(values, 0.05);
  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, means[8]);
  EXPECT_DOUBLE_EQ(interval->high, means[means.size() - 9]);
  EXPECT_DOUBLE_EQ(interval->estimate, means[27]);
  EXPECT_DOUBLE_EQ(interval->confidence, 0.95);
}

TEST(SignedRank, OneHugeSpikeDoesNotMoveTheEstimate) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(0.02 + 0.001 * std::sin(1.7 * i));
  const auto calm = signed_rank_interval(values, 0.05);
  values[11] = 1e6;
  const auto spiked = signed_rank_interval(values, 0.05);
  ASSERT_TRUE(calm && spiked);
  EXPECT_NEAR(spiked->estimate, calm->estimate, 2e-4);
  EXPECT_TRUE(spiked->contains(0.02));
}

TEST(SignedRank, EqualDifferencesGiveAnIntervalOfNoWidth) {
  const auto interval = signed_rank_interval(std::vector<double>(12, 0.25), 0.05);
  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, 0.25);
  EXPECT_DOUBLE_EQ(interval->high, 0.25);
}

}  // namespace
}  // namespace shardscope
