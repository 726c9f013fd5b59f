#include "layout/table_stats.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

TEST(UniqueCurve, PassesThroughItsPointsAndIsMonotone) {
  TableStats stats;
  stats.unique = {{100, 80}, {1000, 400}, {10000, 1500}};
  for (const UniquePoint& point : stats.unique) {
    EXPECT_NEAR(stats.unique_among(point.keys), point.unique, 1e-9);
  }
  double before = 0;
  for (double keys = 0.25; keys < 1e6; keys *= 1.3) {
    const double unique = stats.unique_among(keys);
    EXPECT_GE(unique, before) << keys;
    EXPECT_LE(unique, keys * (1 + 1e-12));
    before = unique;
  }
}

TEST(UniqueCurve, InterpolatesInLogSpace) {
  TableStats stats;
  stats.unique = {{100, 10}, {10000, 1000}};
  EXPECT_NEAR(stats.unique_among(1000), 100, 1e-9);
}

TEST(UniqueCurve, IsLimitedByTheRowsEverSeen) {
  TableStats stats;
  stats.unique = {{100, 90}};
  stats.working_set_rows = 95;
  EXPECT_EQ(stats.unique_among(1e9), 95);
}

TEST(UniqueCurve, WithoutPointsTakesEveryKeyAsDistinct) {
  const TableStats stats;
  EXPECT_EQ(stats.unique_among(-3), 0);
  EXPECT_EQ(stats.unique_among(0.5), 0.5);
  EXPECT_EQ(stats.unique_among(123), 123);
}

TEST(UniqueCurve, FlatEndStaysFlat) {
  TableStats stats;
  stats.unique = {{100, 3}, {1000, 3}};
  EXPECT_NEAR(stats.unique_among(1e9), 3, 1e-9);
}

}  // namespace
}  // namespace shardscope
