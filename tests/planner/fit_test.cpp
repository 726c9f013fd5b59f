#include "planner/fit.hpp"

#include <cmath>
#include <random>

namespace shardscope {
namespace {

/// Times that are bytes / (rate x efficiency) + launches.
std::vector<FitPoint> transfer_points(double efficiency, double launch, double noise,
                                      std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<FitPoint> points;
  for (double bytes = 1e4; bytes < 1e10; bytes *= 2) {
    const auto model = [bytes](const std::vector<double>& p) {
      return bytes / (1e12 * p[0]) + p[1];
    };
    const double measured =
        model({efficiency, launch}) * (noise > 0 ? std::exp(normal(random)) : 1);
    points.push_back({measured, 1, model});
  }
  return points;
}

const std::vector<FitParameter> kTransfer = {{"efficiency", 0.6, 0.3, 1}, {"launch", 3e-6, 0.5, 0}};

TEST(Fit, FindsTheConstantsOfExactData) {
  const FitResult result = fit(kTransfer, transfer_points(0.8, 7e-6, 0, 1), {0.001, 3, 50});
  EXPECT_NEAR(result.values[0], 0.8, 1e-3);
  EXPECT_NEAR(result.values[1], 7e-6, 1e-8);
}

TEST(Fit, PosteriorHoldsTheTruth) {
  int inside = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const FitResult result = fit(kTransfer, transfer_points(0.7, 4e-6, 0.05, seed), {0.05, 3, 50});
    inside += std::abs(std::log(result.values[0] / 0.7)) < 2 * result.log_sd[0] ? 1 : 0;
  }
  EXPECT_GT(inside, 180);
}

TEST(Fit, RefusesEfficienciesAboveOne) {
  const FitResult result = fit(kTransfer, transfer_points(1.6, 4e-6, 0, 1), {0.05, 3, 50});
  EXPECT_LE(result.values[0], 1);
  EXPECT_TRUE(result.limited[0]);
  EXPECT_FALSE(result.limited[1]);
}

TEST(Fit, KeepsThePriorWhereDataSayNothing) {
  std::vector<FitParameter> parameters = kTransfer;
  parameters.push_back({"unused", 5, 0.2, 0});
  const FitResult result = fit(parameters, transfer_points(0.7, 4e-6, 0, 1), {0.05, 3, 50});
  EXPECT_NEAR(result.values[2], 5, 1e-9);
  EXPECT_NEAR(result.log_sd[2], 0.2, 1e-9);
}

TEST(Fit, OneWildPointMovesLittle) {
  std::vector<FitPoint> points = transfer_points(0.7, 4e-6, 0, 1);
  points.back().measured *= 5;
  const FitResult result = fit(kTransfer, points, {0.05, 2, 50});
  EXPECT_NEAR(result.values[0], 0.7, 0.05);
}

}  // namespace
}  // namespace shardscope
