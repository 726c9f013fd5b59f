#include "profiler/stage_times.hpp"

#include <gtest/gtest.h>

namespace shardscope {
namespace {

Span stage_span(std::int32_t rank, Stage stage, std::int64_t ms, std::int32_t iteration = 0) {
  Span span;
  span.rank = rank;
  span.stage = stage;
  span.end_ns = ms * 1'000'000;
  span.busy_ns = span.end_ns / 2;
  span.intra_bytes = 100;
  span.inter_bytes = 10;
  span.rows = 7;
  span.iteration = iteration;
  return span;
}

TEST(StageTimes, AddUpByRankStageAndWork) {
  StageSum sum;
  sum.add(stage_span(0, Stage::update, 2));
  sum.add(stage_span(0, Stage::update, 3));
  Span other_work = stage_span(0, Stage::update, 5);
  other_work.work = Work::UB;
  sum.add(other_work);
  const std::vector<StageTotals> totals = sum.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0],
            (StageTotals{0, Stage::update, Work::RB, 2, 5'000'000, 2'500'000, 0, 200, 20, 14}));
  EXPECT_EQ(totals[1].work, Work::UB);
  EXPECT_EQ(totals[1].total_ns, 5'000'000);
}

TEST(StageTimes, WaitingIsKeptApart) {
  StageSum sum;
  Span waiting = stage_span(0, Stage::network_forward, 4);
  waiting.waiting = true;
  sum.add(waiting);
  sum.add(stage_span(0, Stage::network_forward, 1));
  const StageTotals total = sum.totals().at(0);
  EXPECT_EQ(total.total_ns, 1'000'000);
  EXPECT_EQ(total.waiting_ns, 4'000'000);
}

TEST(StageTimes, ExcludedIterationsDoNotCount) {
  StageSum sum({3, 1});
  for (std::int32_t i = 0; i < 5; ++i) sum.add(stage_span(0, Stage::update, 1, i));
  EXPECT_EQ(sum.totals().at(0).spans, 3);
  EXPECT_EQ(sum.iterations(), 3);
}

TEST(StageTimes, TheTableShowsSlowestAndMeanRankPerIteration) {
  StageSum sum;
  for (std::int32_t i = 0; i < 2; ++i) {
    sum.add(stage_span(0, Stage::model_forward, 2, i));
    sum.add(stage_span(1, Stage::model_forward, 6, i));
    sum.add(stage_span(1, Stage::input_dist, 1, i));
  }
  const std::vector<StageTotals> totals = sum.totals();
  const std::vector<StageRow> table = stage_table(totals, 2);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].stage, Stage::input_dist);
  EXPECT_DOUBLE_EQ(table[0].ms_max, 1);
  EXPECT_DOUBLE_EQ(table[0].ms_mean, 0.5) << "rank 0 has none: it counts with 0";
  EXPECT_EQ(table[0].slowest_rank, 1);
  EXPECT_EQ(table[1].stage, Stage::model_forward);
  EXPECT_DOUBLE_EQ(table[1].ms_max, 6);
  EXPECT_DOUBLE_EQ(table[1].ms_mean, 4);
  EXPECT_DOUBLE_EQ(table[1].busy_ms_max, 3);
  EXPECT_DOUBLE_EQ(table[1].busy_ms_mean, 2);
  EXPECT_DOUBLE_EQ(table[1].intra_bytes, 200) << "all ranks, per iteration";
  EXPECT_DOUBLE_EQ(table[1].inter_bytes, 20);
  EXPECT_DOUBLE_EQ(table[1].rows, 14);
  EXPECT_EQ(table[1].slowest_rank, 1);
}

TEST(StageTimes, RanksComeInOrderWithEveryStage) {
  StageSum sum;
  sum.add(stage_span(5, Stage::update, 2));
  sum.add(stage_span(2, Stage::input_dist, 4));
  const std::vector<RankStages> ranks = rank_stages(sum.totals(), 1);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].rank, 2);
  EXPECT_EQ(ranks[1].rank, 5);
  ASSERT_EQ(ranks[0].ms.size(), static_cast<std::size_t>(kStages));
  EXPECT_DOUBLE_EQ(ranks[0].ms[static_cast<std::size_t>(Stage::input_dist)], 4);
  EXPECT_DOUBLE_EQ(ranks[1].busy_ms[static_cast<std::size_t>(Stage::update)], 1);
}

TEST(StageTimes, OfNothingTheTableIsEmpty) {
  EXPECT_TRUE(stage_table({}, 0).empty());
  EXPECT_TRUE(rank_stages({}, 0).empty());
}

}  // namespace
}  // namespace shardscope
