#include "engine/cpu/memory.hpp"

#include <algorithm>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardscope::engine {
namespace {

TEST(HugeMemory, IsZeroAndAlignedToHugePagesWhenLarge) {
  const std::int64_t bytes = (std::int64_t{5} << 20) + 3;
  const auto memory = HugeMemory::allocate(bytes, "test");
  ASSERT_TRUE(memory.has_value());
  EXPECT_GE(memory->bytes(), bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % (std::uintptr_t{2} << 20), 0U);
  EXPECT_TRUE(std::all_of(memory->data(), memory->data() + bytes,
                          [](std::byte b) { return b == std::byte{0}; }));
  memory->as<float>()[bytes / 4 - 1] = 1;
}

TEST(HugeMemory, OfNothingIsEmpty) {
  const auto memory = HugeMemory::allocate(0, "test");
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->data(), nullptr);
  EXPECT_EQ(memory->bytes(), 0);
}

TEST(HugeMemory, MoveLeavesOneOwner) {
  auto memory = HugeMemory::allocate(4096, "test");
  ASSERT_TRUE(memory.has_value());
  std::byte* data = memory->data();
  HugeMemory moved = std::move(*memory);
  EXPECT_EQ(moved.data(), data);
  HugeMemory assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
}

TEST(HugeMemory, RefusalNamesBytesAskedBytesAvailableAndPurpose) {
  const std::int64_t asked = std::int64_t{1} << 60;
  const auto memory = HugeMemory::allocate(asked, "arena of rank 3");
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().kind, ErrorKind::runtime);
  const std::string text = to_string(memory.error());
  EXPECT_THAT(text, ::testing::HasSubstr("1152921504606846976 bytes asked"));
  EXPECT_THAT(text, ::testing::HasSubstr("bytes available"));
  EXPECT_THAT(text, ::testing::HasSubstr("arena of rank 3"));
}

TEST(HugeMemory, AvailableMemoryIsKnownOnLinux) {
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_LT(available_memory_bytes(), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace shardscope::engine
