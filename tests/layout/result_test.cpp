#include "layout/result.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

TEST(Result, ErrorTextHasPlaceExpectationAndCureOnOneLine) {
  const Error error{ErrorKind::usage, "rows is -1", "model.json:3:9", "a whole number >= 0",
                    "Write the table's row count"};
  EXPECT_EQ(
      to_string(error),
      "model.json:3:9: rows is -1; expected a whole number >= 0. Write the table's row count");
}

TEST(Result, ExitCodesFollowTheKind) {
  EXPECT_EQ(exit_code(ErrorKind::usage), 1);
  EXPECT_EQ(exit_code(ErrorKind::infeasible), 2);
  EXPECT_EQ(exit_code(ErrorKind::runtime), 3);
}

}  // namespace
}  // namespace shardscope
