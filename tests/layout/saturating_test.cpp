#include <gtest/gtest.h>

#include "layout/memory.hpp"

namespace shardscope {
namespace {

TEST(Saturating, StopsAtTheLargestValue) {
  EXPECT_EQ(saturating_add(1, 2), 3);
  EXPECT_EQ(saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_multiply(3, 4), 12);
  EXPECT_EQ(saturating_multiply(INT64_MAX / 2, 3), INT64_MAX);
  EXPECT_EQ(saturating_multiply(INT64_MAX, 0), 0);
}

TEST(MemoryUse, TotalCountsEveryPurposeAndSaturates) {
  MemoryUse use{1, 20, 300, 4000, 50000, 600000, 7000000, 80000000, 900000000, 1000000000};
  EXPECT_EQ(use.total(), 1987654321);
  use.sort = INT64_MAX;
  EXPECT_EQ(use.total(), INT64_MAX);
}

}  // namespace
}  // namespace shardscope
