#include "profiler/recorder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "tests/profiler/recording_sink.hpp"

namespace shardscope {
namespace {

Span recorder_span(std::int32_t rank, std::uint8_t stream, std::int64_t number) {
  Span span;
  span.rank = rank;
  span.stream = stream;
  span.start_ns = number * 10;
  span.end_ns = number * 10 + 7;
  span.rows = number;
  return span;
}

TEST(Recorder, FlushHandsOverEverythingRecordedBefore) {
  test::RecordingSink sink;
  Recorder recorder(sink, 1, {.ranks = 2, .streams = 2});
  for (std::int64_t i = 0; i < 100; ++i) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      for (std::uint8_t stream = 0; stream < 2; ++stream) {
        EXPECT_TRUE(recorder.record(recorder_span(rank, stream, i)));
      }
    }
    EXPECT_TRUE(recorder.record(Iteration{.index = static_cast<std::int32_t>(i)}));
    recorder.flush();
    ASSERT_EQ(sink.spans_seen().size(), static_cast<std::size_t>(4 * (i + 1)));
    ASSERT_EQ(sink.iterations_seen().size(), static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(recorder.dropped(), 0);
}

TEST(Recorder, KeepsEveryFieldAndTheOrderOfAStream) {
  test::RecordingSink sink;
  {
    Recorder recorder(sink, 1, {.ranks = 1, .streams = 1, .spans_per_stream = 64});
    for (std::int64_t i = 0; i < 1000; ++i) {
      if (i % 50 == 0) recorder.flush();
      recorder.record(recorder_span(0, 0, i));
    }
  }
  const std::vector<Span> seen = sink.spans_seen();
  ASSERT_EQ(seen.size(), 1000u);
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], recorder_span(0, 0, i));
  }
}

TEST(Recorder, DestructionHandsOverTheRest) {
  test::RecordingSink sink;
  {
    Recorder recorder(sink, 1, {.drain_period = std::chrono::hours(1)});
    recorder.record(recorder_span(0, 0, 1));
    recorder.record(Iteration{.index = 3});
  }
  EXPECT_EQ(sink.spans_seen().size(), 1u);
  EXPECT_EQ(sink.iterations_seen().size(), 1u);
}

TEST(Recorder, DrainsWithoutBeingAsked) {
  test::RecordingSink sink;
  Recorder recorder(sink, 1, {.drain_period = std::chrono::milliseconds(1)});
  recorder.record(recorder_span(0, 0, 1));
  for (int tries = 0; tries < 5000 && sink.spans_seen().empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(sink.spans_seen().size(), 1u);
}

TEST(Recorder, CountsAndReportsWhatAStalledSinkCannotTake) {
  test::RecordingSink sink;
  sink.stall(true);
  std::int64_t accepted = 0;
  {
    Recorder recorder(sink, 1, {.spans_per_stream = 16});
    for (std::int64_t i = 0; i < 100; ++i) accepted += recorder.record(recorder_span(0, 0, i));
    // The ring holds 16 and the drain thread gives slots back only after the sink took them.
    EXPECT_EQ(accepted, 16);
    EXPECT_EQ(recorder.dropped(), 84);
    sink.stall(false);
    recorder.flush();
    EXPECT_EQ(sink.dropped_seen(), 84);
    EXPECT_TRUE(recorder.record(recorder_span(0, 0, 100)));
  }
  EXPECT_EQ(sink.spans_seen().size(), 17u);
  EXPECT_EQ(sink.dropped_seen(), 84);
}

TEST(Recorder, ManyThreadsLoseNothingTheyWereNotToldOf) {
  constexpr std::int32_t kRanks = 4;
  constexpr std::int64_t kSpans = 20000;
  test::RecordingSink sink;
  std::int64_t dropped = 0;
  {
    Recorder recorder(sink, 1,
                      {.ranks = kRanks,
                       .streams = 1,
                       .spans_per_stream = 256,
                       .drain_period = std::chrono::milliseconds(1)});
    std::vector<std::thread> threads;
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&recorder, rank] {
        for (std::int64_t i = 0; i < kSpans; ++i) recorder.record(recorder_span(rank, 0, i));
      });
    }
    for (std::thread& thread : threads) thread.join();
    recorder.flush();
    dropped = recorder.dropped();
  }
  const std::vector<Span> seen = sink.spans_seen();
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()) + dropped, kRanks * kSpans);
  EXPECT_EQ(sink.dropped_seen(), dropped);
  std::map<std::int32_t, std::int64_t> last;
  for (const Span& span : seen) {
    const auto [entry, first] = last.try_emplace(span.rank, span.rows);
    if (!first) {
      ASSERT_GT(span.rows, entry->second);
      entry->second = span.rows;
    }
    ASSERT_EQ(span, recorder_span(span.rank, 0, span.rows));
  }
}

TEST(Recorder, TimesCountFromTheEpoch) {
  test::RecordingSink sink;
  const std::int64_t epoch = steady_ns() - 5'000'000'000;
  const Recorder recorder(sink, 1, {.epoch_ns = epoch});
  EXPECT_EQ(recorder.epoch_ns(), epoch);
  EXPECT_GE(recorder.now_ns(), 5'000'000'000);
  EXPECT_LT(recorder.now_ns(), 60'000'000'000);
}

TEST(RecorderDeathTest, ARankThatWasNotAnnouncedIsABug) {
  test::RecordingSink sink;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Recorder recorder(sink, 1, {.ranks = 2});
        recorder.record(recorder_span(2, 0, 0));
      },
      "rank 2, stream 0 was not announced");
}

}  // namespace
}  // namespace shardscope
