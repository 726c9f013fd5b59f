// Re-layout while training: shards move between ranks and clusters, weights and optimizer state
// stay.

#include <gtest/gtest.h>

#include "run_case.hpp"

namespace shardscope::engine {
namespace {

/// The workload of a case under the layouts of other cases of the same tables.
std::vector<Layout> layouts_of(const PipelineCase& value, std::int64_t n) {
  std::vector<Layout> layouts;
  for (std::uint64_t salt = 1; layouts.size() < 3; ++salt) {
    layouts.push_back(other_layout(value, 1000 * static_cast<std::uint64_t>(n) + salt));
  }
  return layouts;
}

/// Trains one iteration, moves, trains, ... and compares after every part.
void expect_law_over_relayouts(const PipelineCase& value, const std::vector<Layout>& layouts) {
  auto engine = engine_of(value);
  ASSERT_TRUE(engine.has_value()) << to_string(engine.error());
  Reference reference = reference_of(value);
  PipelineCase now = value;
  std::int64_t done = 0;
  for (std::size_t part = 0; part <= layouts.size(); ++part) {
    if (part > 0) {
      now.layout = layouts[part - 1];
      const std::vector<float> before = (*engine)->weights(0);
      const Status status = (*engine)->apply(now.layout);
      ASSERT_TRUE(status.has_value()) << to_string(status.error());
      EXPECT_EQ((*engine)->weights(0), before);
      EXPECT_EQ((*engine)->config().layout, now.layout);
    }
    const auto block = (*engine)->run(2, nullptr);
    ASSERT_TRUE(block.has_value()) << to_string(block.error());
    step_reference(value, reference, done, done + 2);
    done += 2;
    const auto wrong = compare_with_reference(now, **engine, reference, done);
    ASSERT_FALSE(wrong.has_value()) << "part " << part << ": " << *wrong << "\n" << to_json(now);
  }
}

TEST(Relayout, TrainingOverThreeRelayoutsLearnsWhatOneRankLearns) {
  for (std::int64_t n = 0; n < 48; ++n) {
    const PipelineCase value = make_case(11, n);
    expect_law_over_relayouts(value, layouts_of(value, n));
    if (testing::Test::HasFatalFailure()) FAIL() << "case " << n << " of seed 11";
  }
}

TEST(Relayout, KeepsTheOldLayoutWhenTheNewOneIsRefused) {
  const PipelineCase value = make_case(11, 4);
  auto engine = engine_of(value);
  ASSERT_TRUE(engine.has_value()) << to_string(engine.error());
  Layout broken = value.layout;
  broken.ranks += 1;
  const Status status = (*engine)->apply(broken);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ((*engine)->config().layout, value.layout);
  EXPECT_TRUE((*engine)->run(1, nullptr).has_value());
}

}  // namespace
}  // namespace shardscope::engine
