#include "profiler/median.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace shardscope {
namespace {

TEST(Median, IsTheMiddleInAnyOrder) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median(std::vector<std::int64_t>{-4, -4, 7, 100, -9}), -4);
  EXPECT_EQ(median(std::vector<double>{3}), 3);
}

TEST(Median, OfAnEvenNumberIsTheUpperMiddle) {
  EXPECT_EQ(median(std::vector<double>{4, 2, 1, 3}), 3);
}

TEST(Median, LeavesTheCallersValuesAsTheyAre) {
  const std::vector<double> values{3, 1, 2};
  median(values);
  EXPECT_EQ(values, (std::vector<double>{3, 1, 2}));
}

}  // namespace
}  // namespace shardscope
