#include "engine/batches/random.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace shardscope::engine {
namespace {

TEST(Philox, GivesThePublishedKnownAnswers) {
  // Known-answer vectors published with the Random123 library for philox4x32, 10 rounds.
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, ~std::uint64_t{0}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ULL),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draws, DependOnEveryPartOfTheKeyAndOnNothingElse) {
  const DrawKey key{7, 3, 11, 5, Purpose::ids};
  Draws first(key);
  Draws again(key);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(first.next(), again.next());

  const std::uint64_t base = Draws(key).next();
  for (const DrawKey& other :
       {DrawKey{8, 3, 11, 5, Purpose::ids}, DrawKey{7, 4, 11, 5, Purpose::ids},
        DrawKey{7, 3, 12, 5, Purpose::ids}, DrawKey{7, 3, 11, 6, Purpose::ids},
        DrawKey{7, 3, 11, 5, Purpose::weights},
        DrawKey{7, 3 + (std::int64_t{1} << 40), 11, 5, Purpose::ids}}) {
    EXPECT_NE(Draws(other).next(), base);
  }
}

TEST(Draws, UnitNeverReachesZeroAndNeverExceedsOne) {
  EXPECT_GT(Draws::unit_of(0), 0.0);
  EXPECT_LE(Draws::unit_of(~std::uint64_t{0}), 1.0);
}

TEST(Draws, BelowIsUniformForABoundThatDoesNotDivideThePowerOfTwo) {
  // 3 * 2^62 makes a plain multiply-shift over-represent a third of the values by a factor 2.
  const std::uint64_t bound = 3 * (std::uint64_t{1} << 62);
  const int draws_made = 30'000;
  int low = 0;
  for (int i = 0; i < draws_made; ++i) {
    Draws draws({1, 0, i, 0, Purpose::ids});
    const std::uint64_t value = draws.below(bound);
    ASSERT_LT(value, bound);
    low += value % 3 == 0 ? 1 : 0;
  }
  const double deviation = std::sqrt(draws_made * (1.0 / 3) * (2.0 / 3));
  EXPECT_NEAR(low, draws_made / 3.0, 4.5 * deviation);
}

}  // namespace
}  // namespace shardscope::engine
