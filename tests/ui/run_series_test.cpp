#include "ui/model/run_series.hpp"

#include <gtest/gtest.h>

#include <random>

namespace shardscope::ui {
namespace {

std::vector<Iteration> blocks_of(int blocks, double ms, double noise, std::mt19937& random) {
  std::vector<Iteration> result;
  double at = 0;
  std::normal_distribution<double> normal(0, noise);
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 10; ++i) {
      Iteration iteration;
      iteration.block = b;
      iteration.warm_up = b == 0;
      iteration.start_ns = static_cast<std::int64_t>(at * 1e6);
      at += std::max(0.1, (b == 0 ? 3 : 1) * ms + normal(random));
      iteration.end_ns = static_cast<std::int64_t>(at * 1e6);
      result.push_back(iteration);
    }
  }
  return result;
}

TEST(RunSeries, WarmUpIsDrawnButNotCounted) {
  std::mt19937 random(2);
  RunSeries series;
  series.reset(1000);
  series.add(blocks_of(20, 10, 0, random));
  ASSERT_EQ(series.blocks().size(), 20U);
  EXPECT_TRUE(series.blocks().front().warm_up);
  EXPECT_NEAR(series.mean_ms(), 10, 1e-6);
  EXPECT_NEAR(series.throughput(), 1e5, 1);
}

TEST(RunSeries, PiecesGiveTheSameAsTheWhole) {
  std::mt19937 random(4);
  RecordProperty("seed", 4);
  const std::vector<Iteration> all = blocks_of(12, 5, 0.5, random);
  RunSeries whole, pieces;
  whole.reset(64);
  pieces.reset(64);
  whole.add(all);
  for (std::size_t at = 0; at < all.size(); at += 7) {
    pieces.add(std::span(all).subspan(at, std::min<std::size_t>(7, all.size() - at)));
  }
  ASSERT_EQ(whole.blocks().size(), pieces.blocks().size());
  EXPECT_NEAR(whole.mean_ms(), pieces.mean_ms(), 1e-9);
  EXPECT_NEAR(whole.blocks().back().high, pieces.blocks().back().high, 1e-6);
}

TEST(RunSeries, TheRatioIsFoundWithinItsInterval) {
  std::mt19937 random(8);
  RecordProperty("seed", 8);
  RunSeries a, b;
  a.reset(100);
  b.reset(100);
  EXPECT_FALSE(ratio_of(a, b));
  a.add(blocks_of(40, 11, 0.4, random));
  b.add(blocks_of(40, 10, 0.4, random));
  const auto ratio = ratio_of(a, b);
  ASSERT_TRUE(ratio);
  EXPECT_LE(ratio->low, 1.1);
  EXPECT_GE(ratio->high, 1.1);
  EXPECT_GT(ratio->low, 1.0);
}

}  // namespace
}  // namespace shardscope::ui
