#include "profiler/stage_profile.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shardscope {
namespace {

Span span_of(std::int32_t rank, Stage stage, double ms, std::int64_t inter_bytes = 0) {
  Span span;
  span.rank = rank;
  span.stage = stage;
  span.end_ns = static_cast<std::int64_t>(ms * 1e6);
  span.busy_ns = span.end_ns / 2;
  span.inter_bytes = inter_bytes;
  return span;
}

StageProfile profile_of(const std::vector<Span>& spans, std::int32_t ranks) {
  StageSum sum;
  for (const Span& span : spans) sum.add(span);
  return stage_profile(sum.totals(), sum.iterations(), ranks);
}

ComparedSide side_of(const std::string& name, const std::vector<Span>& spans) {
  return {name, profile_of(spans, 2)};
}

TEST(StageProfile, IsTheMeanIteration) {
  std::vector<Span> spans = {span_of(0, Stage::update, 4, 1000), span_of(0, Stage::update, 2, 3000),
                             span_of(1, Stage::update, 8)};
  spans[1].iteration = 1;
  const StageProfile profile = profile_of(spans, 2);
  EXPECT_EQ(profile.iterations, 2);
  EXPECT_DOUBLE_EQ(profile.at(0, Stage::update).ms, 3);
  EXPECT_DOUBLE_EQ(profile.at(0, Stage::update).busy_ms, 1.5);
  EXPECT_DOUBLE_EQ(profile.at(0, Stage::update).inter_bytes, 2000);
  EXPECT_EQ(profile.slowest_rank(Stage::update), 1u);
  EXPECT_DOUBLE_EQ(profile.ms_max(Stage::update), 4);
  EXPECT_DOUBLE_EQ(profile.ms_mean(Stage::update), 3.5);
  EXPECT_DOUBLE_EQ(profile.busy_ms_max(Stage::update), 2);
  EXPECT_DOUBLE_EQ(profile.ms_max(Stage::allreduce), 0);
}

TEST(StageProfile, WaitingIsKeptApartFromWork) {
  Span waiting = span_of(0, Stage::network_forward, 5);
  waiting.waiting = true;
  const StageProfile profile = profile_of({waiting, span_of(0, Stage::network_forward, 2)}, 1);
  EXPECT_DOUBLE_EQ(profile.at(0, Stage::network_forward).ms, 2);
  EXPECT_DOUBLE_EQ(profile.at(0, Stage::network_forward).waiting_ms, 5);
}

TEST(Explanation, NamesStageRankAndBytesOfTheWinner) {
  const ComparedSide a = side_of(
      "rows", {span_of(0, Stage::network_forward, 3, 1 << 20),
               span_of(1, Stage::network_forward, 9, 8 << 20), span_of(0, Stage::update, 2)});
  const ComparedSide b = side_of(
      "hand", {span_of(0, Stage::network_forward, 4, 2 << 20),
               span_of(1, Stage::network_forward, 3, 1 << 20), span_of(0, Stage::update, 3)});
  EXPECT_EQ(explain({1.5, 1.4, 1.6, 0.95}, a, b),
            "hand is 1.500 times as fast as rows (1.400 to 1.600), most of it in network_forward: "
            "the slowest rank of hand takes 4 ms (rank 0) instead of 9 ms (rank 1); it sends 2 MiB "
            "between domains instead of 8 MiB.");
}

TEST(Explanation, TurnsTheRatioRoundWhereAWins) {
  const ComparedSide a = side_of("rows", {span_of(0, Stage::update, 2)});
  const ComparedSide b = side_of("hand", {span_of(0, Stage::update, 3)});
  EXPECT_EQ(explain({0.8, 0.64, 0.9, 0.95}, a, b),
            "rows is 1.250 times as fast as hand (1.111 to 1.562), most of it in update: the "
            "slowest rank of rows takes 2 ms (rank 0) instead of 3 ms (rank 0).");
}

TEST(Explanation, ClaimsNothingWhereTheIntervalIncludesOne) {
  const ComparedSide a = side_of("rows", {span_of(0, Stage::update, 2)});
  const ComparedSide b = side_of("hand", {span_of(0, Stage::update, 2)});
  EXPECT_EQ(explain({1.001, 0.99, 1.012, 0.95}, a, b),
            "No difference is shown between rows and hand: the ratio's interval, 0.990 to 1.012, "
            "includes 1.");
}

}  // namespace
}  // namespace shardscope
