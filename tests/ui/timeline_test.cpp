#include <gtest/gtest.h>

#include <random>

#include "ui/timeline/range_statistics.hpp"
#include "ui/timeline/source.hpp"
#include "ui/timeline/state.hpp"
#include "ui/timeline/time_view.hpp"

namespace shardscope::ui {
namespace {

Span timeline_span(std::int64_t start, std::int64_t end, Stage stage, std::int32_t rank = 0,
                   std::uint8_t stream = 0, bool waiting = false) {
  Span span;
  span.start_ns = start;
  span.end_ns = end;
  span.stage = stage;
  span.rank = rank;
  span.stream = stream;
  span.waiting = waiting;
  span.intra_bytes = 10;
  return span;
}

TEST(TimeView, TheMomentUnderTheCursorStays) {
  TimeView view;
  view.reset({0, 1e9});
  std::mt19937 random(1);
  RecordProperty("seed", 1);
  for (int i = 0; i < 200; ++i) {
    const TimeRange before = view.shown();
    const double share = static_cast<double>(random() % 1000) / 1000;
    const double at = before.begin + share * before.length();
    view.zoom(0.8, at);
    const TimeRange& now = view.shown();
    EXPECT_NEAR((at - now.begin) / now.length(), share, 1e-6);
  }
  EXPECT_GE(view.shown().length(), TimeView::kShortest * 0.999);
}

TEST(TimeView, BackUndoesEveryZoom) {
  TimeView view;
  view.reset({0, 1e6});
  view.go_to({100, 5000});
  view.go_to({200, 900});
  EXPECT_TRUE(view.back());
  EXPECT_EQ(view.shown(), (TimeRange{100, 5000}));
  EXPECT_TRUE(view.back());
  EXPECT_EQ(view.shown(), (TimeRange{0, 1e6}));
  EXPECT_FALSE(view.back());
}

TEST(TimeView, NeverLosesTheRun) {
  TimeView view;
  view.reset({0, 1e6});
  view.zoom(0.1, 5e5);
  view.pan(1e12);
  EXPECT_LE(view.shown().begin, 1e6);
  view.pan(-1e13);
  EXPECT_GE(view.shown().end, 0);
}

TEST(TimeView, RulerMarksAreRound) {
  EXPECT_DOUBLE_EQ(ruler_step(4e6, 1000), 500'000);
  EXPECT_DOUBLE_EQ(ruler_step(1e9, 1000), 200'000'000);
}

TEST(RangeStatistics, BusyGapsAndWaitsOfAKnownPicture) {
  // Rank 0 works 0-40 and 60-100, its wire 30-60; rank 1 works 0-100 and waits 20 beside.
  const std::vector<Span> spans = {timeline_span(0, 40, Stage::model_forward),
                                   timeline_span(30, 60, Stage::network_forward, 0, 1),
                                   timeline_span(70, 100, Stage::update),
                                   timeline_span(0, 100, Stage::dense_forward, 1),
                                   timeline_span(80, 100, Stage::allreduce, 1, 1, true)};
  const RangeStatistics all = range_statistics(spans, {0, 100});
  ASSERT_EQ(all.ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(all.ranks[0].busy_ns, 90);
  EXPECT_DOUBLE_EQ(all.ranks[1].busy_ns, 100);
  EXPECT_DOUBLE_EQ(all.ranks[1].waiting_ns, 20);
  EXPECT_DOUBLE_EQ(all.busy_share, 0.95);
  EXPECT_DOUBLE_EQ(all.longest_gap_ns, 10);
  EXPECT_EQ(all.gap_rank, 0);
  EXPECT_NEAR(all.overlap_share, 10.0 / 30, 1e-12);
  EXPECT_DOUBLE_EQ(all.intra_bytes, 40);
  const RangeStatistics half = range_statistics(spans, {50, 100});
  EXPECT_DOUBLE_EQ(half.ranks[0].busy_ns, 40);
  EXPECT_DOUBLE_EQ(half.intra_bytes, 10);
}

TEST(RangeStatistics, AnEmptyRangeIsEmpty) {
  const RangeStatistics none = range_statistics({}, {0, 100});
  EXPECT_TRUE(none.stages.empty());
  EXPECT_EQ(none.busy_share, 0);
}

TEST(Timeline, ItemsCoverEverySpanOfTheView) {
  std::vector<Span> spans;
  std::mt19937 random(9);
  RecordProperty("seed", 9);
  std::int64_t at = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto length = static_cast<std::int64_t>(1 + random() % 1000);
    spans.push_back(timeline_span(at, at + length, static_cast<Stage>(random() % kStages)));
    at += length + static_cast<std::int64_t>(random() % 300);
  }
  TimelineState timeline;
  open_timeline(timeline, memory_source(spans, Mode::simulated, "t"), "t");
  const std::vector<LevelNode>* items = nullptr;
  EXPECT_TRUE(track_items(timeline, 0, 1000, 10, &items));
  std::int64_t count = 0;
  for (const LevelNode& node : *items) count += node.count;
  EXPECT_EQ(count, 20000);
  EXPECT_LT(items->size(), 3000U);
  // A little panning is served from what was asked before.
  timeline.view.go_to({1e5, 2e5});
  timeline.queries = 0;
  timeline.query_ms = 0;
  timeline.query_cpu_ms = 0;
  track_items(timeline, 0, 1000, 10, &items);
  timeline.view.pan(1e4);
  track_items(timeline, 0, 1000, 10, &items);
  EXPECT_EQ(timeline.queries, 1);
}

TEST(Timeline, ABudgetOfQueriesKeepsOldItems) {
  std::vector<Span> spans;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    spans.push_back(timeline_span(0, 1000, Stage::update, rank));
  }
  TimelineState timeline;
  open_timeline(timeline, memory_source(spans, Mode::simulated, "t"), "t");
  const std::vector<LevelNode>* items = nullptr;
  int served = 0;
  for (std::size_t track = 0; track < 8; ++track) {
    served += track_items(timeline, track, 100, 3, &items) ? 1 : 0;
  }
  EXPECT_EQ(served, 3);
}

TEST(Timeline, FindAndStepGoThroughTheRange) {
  std::vector<Span> spans;
  for (int i = 0; i < 10; ++i) {
    spans.push_back(
        timeline_span(i * 1000, i * 1000 + 400, i % 2 == 0 ? Stage::update : Stage::model_forward));
  }
  TimelineState timeline;
  open_timeline(timeline, memory_source(spans, Mode::simulated, "t"), "t");
  update_range(timeline);
  EXPECT_EQ(timeline.events.size(), 10U);
  timeline.find = "update";
  update_find(timeline);
  ASSERT_EQ(timeline.found.size(), 5U);
  step_find(timeline, 1);
  ASSERT_TRUE(timeline.selected);
  EXPECT_EQ(timeline.selected->start_ns, 2000);
  step_find(timeline, -1);
  step_find(timeline, -1);
  EXPECT_EQ(timeline.selected->start_ns, 8000);
  step_event(timeline, 1);
  EXPECT_EQ(timeline.selected->start_ns, 9000);
  step_event(timeline, -1);
  step_event(timeline, -1);
  EXPECT_EQ(timeline.selected->start_ns, 7000);
}

}  // namespace
}  // namespace shardscope::ui
