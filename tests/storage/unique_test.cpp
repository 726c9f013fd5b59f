#include "storage/unique.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace shardscope::storage {
namespace {

std::vector<int>& closed_handles() {
  static std::vector<int> handles;
  return handles;
}
void close_handle(int handle) {
  closed_handles().push_back(handle);
}

using TestHandle = Unique<int, close_handle, -1>;

class UniqueHandle : public testing::Test {
 protected:
  void SetUp() override { closed_handles().clear(); }
};

TEST_F(UniqueHandle, ClosesOnceAtTheEndOfItsScope) {
  {
    const TestHandle handle(7);
    EXPECT_TRUE(handle);
    EXPECT_EQ(handle.get(), 7);
  }
  EXPECT_EQ(closed_handles(), std::vector<int>{7});
}

TEST_F(UniqueHandle, WithoutAValueClosesNothing) {
  {
    const TestHandle handle;
    EXPECT_FALSE(handle);
    EXPECT_EQ(handle.get(), -1);
  }
  EXPECT_TRUE(closed_handles().empty());
}

TEST_F(UniqueHandle, MovingHandsTheOwnershipOver) {
  {
    TestHandle first(1);
    TestHandle second(std::move(first));
    EXPECT_FALSE(first);
    TestHandle third(3);
    third = std::move(second);
    EXPECT_EQ(closed_handles(), std::vector<int>{3});
    EXPECT_EQ(third.get(), 1);
  }
  EXPECT_EQ(closed_handles(), (std::vector<int>{3, 1}));
}

TEST_F(UniqueHandle, ReleaseLeavesClosingToTheCaller) {
  {
    TestHandle handle(5);
    EXPECT_EQ(handle.release(), 5);
    EXPECT_FALSE(handle);
  }
  EXPECT_TRUE(closed_handles().empty());
}

TEST_F(UniqueHandle, ResetClosesTheOldValue) {
  TestHandle handle(1);
  handle.reset(2);
  EXPECT_EQ(closed_handles(), std::vector<int>{1});
  handle.reset();
  EXPECT_EQ(closed_handles(), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace shardscope::storage
