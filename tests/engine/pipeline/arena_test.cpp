#include "engine/pipeline/arena.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace shardscope::engine {
namespace {

std::vector<BufferSpec> arena_list() {
  return {{"a", BufferPurpose::weights, 0, 100},
          {"a", BufferPurpose::weights, 1, 64},
          {"b", BufferPurpose::sort, -1, 0},
          {"c", BufferPurpose::sort, -1, 1}};
}

TEST(Arena, BuffersAreAlignedZeroAndApart) {
  const auto arena = Arena::create(0, arena_list());
  ASSERT_TRUE(arena.has_value()) << to_string(arena.error());
  const auto* first = (*arena)->get("a", 0);
  const auto* second = (*arena)->get("a", 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kBufferAlignment, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % kBufferAlignment, 0U);
  EXPECT_GE(second - first, 128);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first[i], std::byte{0});
}

TEST(Arena, UseCountsEachBufferOnceWithItsAlignment) {
  const auto arena = Arena::create(0, arena_list());
  ASSERT_TRUE(arena.has_value());
  EXPECT_EQ((*arena)->used_bytes(), 0);
  static_cast<void>((*arena)->get("a", 0));
  static_cast<void>((*arena)->get("a", 0));
  EXPECT_EQ((*arena)->used_bytes(), 128);
  static_cast<void>((*arena)->get("c"));
  EXPECT_EQ((*arena)->used_bytes(), 192);
  EXPECT_EQ((*arena)->bytes("c"), 1);
  EXPECT_TRUE((*arena)->has("b"));
  EXPECT_FALSE((*arena)->has("b", 0));
}

TEST(Arena, RefusesWhatTheMachineDoesNotHave) {
  const auto arena = Arena::create(3, {{"huge", BufferPurpose::weights, 0, std::int64_t{1} << 60}});
  ASSERT_FALSE(arena.has_value());
  EXPECT_NE(to_string(arena.error()).find("arena of rank 3"), std::string::npos)
      << to_string(arena.error());
}

}  // namespace
}  // namespace shardscope::engine
