#include "layout/closest.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

TEST(ClosestName, FindsSpellingMistakesAndNothingFarAway) {
  const std::vector<std::string> names = {"dgx-a100", "dgx-h100", "gb200"};
  EXPECT_EQ(closest_name("dgx-h10", names), "dgx-h100");
  EXPECT_EQ(closest_name("dgxh100", names), "dgx-h100");
  EXPECT_EQ(closest_name("gb20", names), "gb200");
  EXPECT_EQ(closest_name("toaster", names), "");
  EXPECT_EQ(closest_name("", names), "");
  EXPECT_EQ(closest_name(std::string(5000, 'x'), names), "");
}

TEST(ClosestName, IgnoresTheCaseOfLetters) {
  EXPECT_EQ(closest_name("DGX-H100", {"dgx-a100", "dgx-h100"}), "dgx-h100");
  EXPECT_EQ(closest_name("Adam", {"sgd", "adagrad", "adam"}), "adam");
}

TEST(ClosestName, ListsNamesWithCommas) {
  EXPECT_EQ(join_names({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join_names({}), "");
}

}  // namespace
}  // namespace shardscope
