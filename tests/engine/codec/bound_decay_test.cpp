#include "engine/codec/bound_decay.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace shardscope::engine {
namespace {

constexpr DecayKind kDecayKinds[] = {DecayKind::none, DecayKind::step, DecayKind::linear,
                                     DecayKind::logarithmic, DecayKind::constant};

TEST(BoundDecay, BeginsWideNeverGrowsAndEndsAtTheBound) {
  for (const DecayKind kind : kDecayKinds) {
    const BoundDecay decay{kind, 2, 1000};
    EXPECT_EQ(decay.factor(0), kind == DecayKind::none ? 1 : 2) << to_string(kind);
    EXPECT_EQ(decay.factor(1000), 1);
    EXPECT_EQ(decay.factor(1'000'000), 1);
    for (std::int64_t t = 0; t < 1000; ++t) {
      EXPECT_LE(decay.factor(t + 1), decay.factor(t)) << to_string(kind) << t;
      EXPECT_GE(decay.factor(t), 1);
    }
  }
}

TEST(BoundDecay, FollowsThePublishedCurves) {
  // The paper writes them as c (1 - ...) with c = 2; f(T / 2) by hand.
  EXPECT_DOUBLE_EQ((BoundDecay{DecayKind::step, 2, 1000}.factor(500)), 1.5);
  EXPECT_DOUBLE_EQ((BoundDecay{DecayKind::step, 2, 1000}.factor(599)), 1.5);
  EXPECT_DOUBLE_EQ((BoundDecay{DecayKind::linear, 2, 1000}.factor(500)), 1.5);
  EXPECT_NEAR((BoundDecay{DecayKind::logarithmic, 2, 1000}.factor(500)),
              2 - std::log(1 + 0.5 * (std::exp(1.0) - 1)), 1e-12);
  EXPECT_DOUBLE_EQ((BoundDecay{DecayKind::constant, 2, 1000}.factor(999)), 2);
}

TEST(BoundDecay, HasNames) {
  for (const DecayKind kind : kDecayKinds) EXPECT_EQ(decay_kind(to_string(kind)), kind);
  EXPECT_FALSE(decay_kind("cyclic").has_value());
}

}  // namespace
}  // namespace shardscope::engine
