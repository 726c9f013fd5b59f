#include "planner/bound_class.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shardscope {
namespace {

TEST(BoundClass, FollowsThePublishedClassesOfCriteoKaggle) {
  constexpr std::array<std::int64_t, 26> kRows = {
      1460,  583,  10131227, 2202608, 305, 24,     12517,   633,   3,
      93145, 5683, 8351593,  3194,    27,  14992,  5461306, 10,    5652,
      2173,  4,    7046547,  18,      15,  286181, 105,     142572};
  const std::vector<int> tight = {2, 3, 9, 11, 15, 20, 23, 25};
  const std::vector<int> loose = {8, 16, 19, 21, 22, 24};
  // Small tables that the paper keeps at the base bound are loose by size alone.
  const std::vector<int> exceptions = {1, 4, 5, 7, 13};
  const auto holds = [](const std::vector<int>& list, int t) {
    return std::find(list.begin(), list.end(), t) != list.end();
  };
  for (int t = 0; t < 26; ++t) {
    const BoundClass expected = holds(tight, t)                           ? BoundClass::tight
                                : holds(loose, t) || holds(exceptions, t) ? BoundClass::loose
                                                                          : BoundClass::base;
    EXPECT_EQ(bound_class(kRows[static_cast<std::size_t>(t)]), expected) << "table " << t;
  }
}

TEST(BoundClass, RowsThatQuantizingMergesMakeATableTight) {
  EXPECT_EQ(bound_class(100, 0.5), BoundClass::tight);
  EXPECT_EQ(bound_class(100, 0.95), BoundClass::loose);
  EXPECT_EQ(bound_class(5'000'000, 1.0), BoundClass::tight);
  EXPECT_DOUBLE_EQ(ClassBounds{}.of(BoundClass::base), 0.03);
}

}  // namespace
}  // namespace shardscope
