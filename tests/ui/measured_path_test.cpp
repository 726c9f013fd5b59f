#include "ui/timeline/measured_path.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace shardscope::ui {
namespace {

Span work(std::int32_t rank, std::int64_t start, std::int64_t end, Stage stage) {
  Span span;
  span.rank = rank;
  span.start_ns = start;
  span.end_ns = end;
  span.stage = stage;
  return span;
}

Span wait(std::int32_t rank, std::int64_t start, std::int64_t end, Stage stage) {
  Span span = work(rank, start, end, stage);
  span.waiting = true;
  return span;
}

TEST(MeasuredPath, ChangesRankWhereAPeerArrivedLast) {
  // Rank 1 looks up longer; rank 0 waits for it inside the exchange, then updates longer.
  const std::vector<Span> spans = {
      work(0, 0, 30'000, Stage::model_forward),
      wait(0, 30'000, 80'000, Stage::network_forward),
      work(0, 80'000, 90'000, Stage::network_forward),
      work(0, 90'000, 190'000, Stage::update),
      work(1, 0, 79'900, Stage::model_forward),
      work(1, 80'000, 90'000, Stage::network_forward),
      work(1, 90'000, 120'000, Stage::update),
  };
  const std::vector<PathPiece> path = measured_path(spans, 0);
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[0].rank, 1);
  EXPECT_EQ(path[0].stage, Stage::model_forward);
  EXPECT_EQ(path[1].rank, 0);
  EXPECT_EQ(path[1].stage, Stage::network_forward);
  EXPECT_EQ(path[2].rank, 0);
  EXPECT_EQ(path[2].stage, Stage::update);
  EXPECT_DOUBLE_EQ(path[2].end_ns, 190'000);
}

TEST(MeasuredPath, FollowsTheWaitInsideACollectivesOwnSpan) {
  const std::vector<Span> spans = {
      work(0, 0, 20'000, Stage::model_forward),
      work(0, 20'000, 100'000, Stage::network_forward),  // as a trace of kernels has it
      wait(0, 20'000, 70'000, Stage::network_forward),
      work(1, 0, 69'900, Stage::model_forward),
  };
  const std::vector<PathPiece> path = measured_path(spans, 0);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].rank, 1);
  EXPECT_DOUBLE_EQ(path[1].begin_ns, 70'000);
  EXPECT_DOUBLE_EQ(path[1].end_ns, 100'000);
}

TEST(MeasuredPath, IsCutAtTheIterationsBegin) {
  const std::vector<Span> spans = {work(0, 0, 50'000, Stage::input_dist),
                                   work(0, 50'000, 90'000, Stage::update)};
  const std::vector<PathPiece> path = measured_path(spans, 30'000);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_DOUBLE_EQ(path[0].begin_ns, 30'000);
}

TEST(MeasuredPath, OfNothingIsEmpty) {
  EXPECT_TRUE(measured_path({}, 0).empty());
  const std::vector<Span> waits = {wait(0, 0, 10, Stage::update)};
  EXPECT_TRUE(measured_path(waits, 0).empty());
}

TEST(MeasuredPath, GoesForwardInTimeAndHoldsNoWaitingWhateverTheSpans) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Span> spans;
    const int count = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < count; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 100'000);
      Span span = work(static_cast<std::int32_t>(random() % 4), start,
                       start + static_cast<std::int64_t>(random() % 30'000),
                       static_cast<Stage>(random() % kStages));
      span.stream = static_cast<std::uint8_t>(random() % 2);
      span.waiting = random() % 4 == 0;
      spans.push_back(span);
    }
    double before = -1e9;
    for (const PathPiece& piece : measured_path(spans, 10'000)) {
      EXPECT_LT(piece.begin_ns, piece.end_ns);
      EXPECT_GE(piece.begin_ns, 10'000);
      EXPECT_GE(piece.begin_ns, before - 201) << "pieces overlap by more than clocks may";
      before = piece.end_ns;
    }
  }
}

}  // namespace
}  // namespace shardscope::ui
