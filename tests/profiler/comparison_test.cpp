#include "profiler/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.hpp"

namespace shardscope {
namespace {

TEST(BlockOrder, IsAFairDrawThatDependsOnTheSeed) {
  int b_first = 0;
  int differs = 0;
  for (std::int64_t pair = 0; pair < 10000; ++pair) {
    b_first += b_runs_first(7, pair) ? 1 : 0;
    differs += b_runs_first(7, pair) != b_runs_first(8, pair) ? 1 : 0;
    EXPECT_EQ(b_runs_first(7, pair), b_runs_first(7, pair));
  }
  EXPECT_NEAR(b_first, 5000, 200);
  EXPECT_NEAR(differs, 5000, 200);
}

TEST(Settling, DropsTheSlowStartAndNoMore) {
  const std::vector<double> block = {9, 5, 4, 2.0, 2.1, 2.0, 1.9, 2.1, 2.0, 2.0};
  EXPECT_EQ(settling_iterations(block), 3);
}

TEST(Settling, DropsAlwaysTheFirstIterationAndNeverMoreThanHalf) {
  EXPECT_EQ(settling_iterations(std::vector<double>{2, 2, 2, 2}), 1);
  EXPECT_EQ(settling_iterations(std::vector<double>{9, 8, 7, 6, 5, 4}), 3);
  EXPECT_EQ(settling_iterations(std::vector<double>{5}), 0);
  EXPECT_EQ(settling_iterations(std::vector<double>{5, 1}), 1);
}

TEST(Settling, KeepsWholeCyclesOfBatches) {
  const std::vector<double> block = {9, 1, 2, 3, 4, 1, 2, 3, 4, 1};
  const BlockTimes times = settle(block, 4);
  EXPECT_EQ(times.kept, 8);
  EXPECT_EQ(times.dropped, 2);
  EXPECT_DOUBLE_EQ(times.mean_ms, 2.5);
}

TEST(Settling, ShortBlocksKeepWhatIsThere) {
  const BlockTimes times = settle(std::vector<double>{9, 2, 4}, 4);
  EXPECT_EQ(times.kept, 2);
  EXPECT_DOUBLE_EQ(times.mean_ms, 3);
}

TEST(Looks, ArePresetAndSparse) {
  std::vector<std::int64_t> looks;
  for (std::int64_t pairs = 0; pairs <= 130; ++pairs) {
    if (is_look(pairs)) looks.push_back(pairs);
  }
  EXPECT_EQ(looks, (std::vector<std::int64_t>{8, 12, 16, 24, 32, 48, 64, 96, 128}));
}

TEST(ComparisonRule, StopsAtALookWhereTheTargetIsReached) {
  Comparison comparison({.target = 0.01});
  for (int pair = 0; pair < 7; ++pair) EXPECT_FALSE(comparison.add(10 + 0.001 * pair, 10));
  EXPECT_FALSE(comparison.running().has_value());
  EXPECT_TRUE(comparison.add(10.002, 10));
  const auto result = comparison.result(StopReason::target);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->target_reached);
  EXPECT_EQ(result->pairs, 8);
  EXPECT_NEAR(result->ratio.estimate, 1.0003, 0.0002);
}

TEST(ComparisonRule, RatioIsThroughputOfBOverA) {
  Comparison comparison({});
  for (int pair = 0; pair < 12; ++pair) EXPECT_FALSE(comparison.add(20, 10));
  const auto result = comparison.result(StopReason::budget);
  ASSERT_TRUE(result.has_value());
  EXPECT_NEAR(result->ratio.estimate, 2.0, 1e-12);
  EXPECT_DOUBLE_EQ(comparison.a_ms(), 20);
  EXPECT_DOUBLE_EQ(comparison.b_ms(), 10);
}

TEST(ComparisonRule, TooFewPairsGiveNoResult) {
  Comparison comparison({.target = 0.01});
  for (int pair = 0; pair < 5; ++pair) (void)comparison.add(10, 10);
  EXPECT_FALSE(comparison.result(StopReason::budget).has_value());
  EXPECT_FALSE(comparison.result(StopReason::interrupted).has_value());
}

TEST(ComparisonRule, MaximumPairsEndIt) {
  Comparison comparison({.maximum_pairs = 9});
  for (int pair = 0; pair < 8; ++pair) EXPECT_FALSE(comparison.add(10, 10.0 + pair));
  EXPECT_TRUE(comparison.add(10, 10));
}

TEST(ComparisonRule, AnInterruptedResultIsWiderThanOneOfTheRule) {
  Comparison comparison({});
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.02);
  for (int pair = 0; pair < 32; ++pair) (void)comparison.add(10 * std::exp(noise(random)), 10);
  EXPECT_GT(comparison.result(StopReason::interrupted)->ratio.half_width(),
            1.2 * comparison.result(StopReason::budget)->ratio.half_width());
}

// --- honesty -----------------------------------------------------------------------------------

/// Block times of a layout against itself in order of time.
using Recording = std::vector<double>;

/// tests/profiler/data/NAME.txt: what a machine really did.
Recording real_recording(const std::string& name) {
  std::ifstream file(test::source_dir() + "/tests/profiler/data/" + name + ".txt");
  Recording blocks;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) blocks.push_back(std::stod(line));
  }
  return blocks;
}

/// Autocorrelated noise, a slow drift, rare spikes, a change of clock speed.
Recording synthetic_recording(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Recording blocks;
  double correlated = 0;
  double level = 10;
  for (int block = 0; block < 4000; ++block) {
    correlated = 0.85 * correlated + 0.008 * normal(random);
    if (uniform(random) < 0.002) level *= 1 + 0.05 * normal(random);
    double time = level * (1 + correlated + 0.03 * std::sin(block / 700.0));
    if (uniform(random) < 0.04) time *= 1 + 0.5 * uniform(random);
    blocks.push_back(time);
  }
  return blocks;
}

struct Coverage {
  double final_share = 0;
  double running_share = 0;
  double mean_pairs = 0;
};

/// Replays the rule over the recording from random starts; B is `speedup` times as fast as A.
Coverage replay(const Recording& blocks, const StopRule& rule, double speedup, int replays,
                std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> starts(0, blocks.size() - 1);
  Coverage coverage;
  for (int index = 0; index < replays; ++index) {
    Comparison comparison(rule);
    std::size_t at = starts(random);
    const std::uint64_t order = random();
    const auto next = [&] { return blocks[at++ % blocks.size()]; };
    for (bool stop = false; !stop;) {
      const double first = next();
      const double second = next();
      const bool b_first = b_runs_first(order, comparison.pairs());
      stop = comparison.add(b_first ? second : first, (b_first ? first : second) / speedup);
    }
    const auto result = comparison.result(StopReason::target);
    coverage.final_share += result->ratio.contains(speedup) ? 1 : 0;
    coverage.running_share += comparison.running()->contains(speedup) ? 1 : 0;
    coverage.mean_pairs += static_cast<double>(result->pairs);
  }
  coverage.final_share /= replays;
  coverage.running_share /= replays;
  coverage.mean_pairs /= replays;
  return coverage;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr int kReplays = 1000;  // the full count is checked in release builds
constexpr double kLeast = 0.925;
constexpr double kMost = 0.98;
#else
constexpr int kReplays = 10000;
constexpr double kLeast = 0.94;
constexpr double kMost = 0.97;
#endif

void expect_honest(const Recording& recording, const StopRule& rule, double speedup,
                   std::uint64_t seed) {
  const Coverage coverage = replay(recording, rule, speedup, kReplays, seed);
  testing::Test::RecordProperty("coverage", std::to_string(coverage.final_share));
  EXPECT_GE(coverage.final_share, kLeast)
      << "target " << rule.target << " speedup " << speedup << " seed " << seed;
  EXPECT_LE(coverage.final_share, kMost)
      << "target " << rule.target << " speedup " << speedup << " seed " << seed;
  EXPECT_GE(coverage.running_share, 0.95);
}

void expect_honest_rules(const Recording& recording) {
  for (const double speedup : {1.0, 1.02}) {
    expect_honest(recording, {.target = 0.01, .maximum_pairs = 128}, speedup, 1);
    expect_honest(recording, {.target = 0.02, .maximum_pairs = 128}, speedup, 2);
    expect_honest(recording, {.target = 0, .maximum_pairs = 40}, speedup, 3);
  }
}

TEST(ComparisonHonesty, IntervalCoversTheTruthOverReplaysOfASyntheticRecording) {
  expect_honest_rules(synthetic_recording(11));
}

TEST(ComparisonHonesty, IntervalCoversTheTruthOverReplaysOfABusyMachine) {
  const Recording recording = real_recording("busy_machine");
  ASSERT_GE(recording.size(), 4000u);
  expect_honest_rules(recording);
}

}  // namespace
}  // namespace shardscope
