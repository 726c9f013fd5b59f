#include "storage/session_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "profiler/recorder.hpp"
#include "storage/run_scan.hpp"
#include "storage/session_state.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

using Access = Session::Access;

std::int64_t integer_of(const Session& session, const std::string& sql) {
  const std::lock_guard guard(session.state().mutex);
  const Result<std::int64_t> value = session.state().database.integer(sql);
  EXPECT_TRUE(value) << (value ? "" : to_string(value.error()));
  return value.value_or(-1);
}

TEST(SessionWriter, ARunIsInTheFileAsItWasHandedOver) {
  const test::TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  const std::vector<Span> spans = test::sample_spans(20);
  std::int64_t run = 0;
  {
    Session session = Session::create(path).value();
    SessionWriter writer(session);
    run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, spans);
    writer.iterations(run, test::sample_iterations(20));
    writer.dropped(run, 3);
    const Status ended = writer.end_run(run, {.samples_per_s = 5, .iteration_ms = 2});
    ASSERT_TRUE(ended) << to_string(ended.error());
    EXPECT_EQ(writer.committed(), 100);
  }
  const Session session = Session::open(path, Access::read_only).value();
  Database& database = session.state().database;
  std::vector<Span> read;
  const auto tracks = tracks_of(database, run).value();
  ASSERT_EQ(tracks.size(), 2u);
  for (const Track& track : tracks) {
    EXPECT_EQ(track.spans, 40);
    ASSERT_TRUE(for_each_span(database, track,
                              [&](const Span& span, std::int64_t) { read.push_back(span); }));
  }
  std::vector<Span> expected = spans;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Span& a, const Span& b) { return a.rank < b.rank; });
  EXPECT_EQ(read, expected);
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM iterations WHERE traced = 1"), 20);
  EXPECT_EQ(integer_of(session, "SELECT count FROM dropped WHERE place = 'recorder'"), 3);
  EXPECT_EQ(integer_of(session, "SELECT complete FROM runs"), 1);
  EXPECT_EQ(database.text("SELECT seed FROM runs").value(), "18446744073709551615");
  EXPECT_EQ(database.text("SELECT mode || executor || wire FROM runs").value(),
            "emulatedengine10,2");
  EXPECT_GT(integer_of(session, "SELECT count(*) FROM levels"), 0);
}

TEST(SessionWriter, EqualDocumentsAreStoredOnce) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  SessionWriter writer(session);
  RunInfo info = test::sample_run();
  ASSERT_TRUE(writer.begin_run(info));
  ASSERT_TRUE(writer.begin_run(info));
  info.layout_json = R"({"name": "edited", "parent": "table_row_wise"})";
  ASSERT_TRUE(writer.begin_run(info));
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM workloads"), 1);
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM topologies"), 1);
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM layouts"), 2);
  EXPECT_EQ(integer_of(session, "SELECT parent FROM layouts WHERE name = 'edited'"), 1);
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM runs"), 3);
}

TEST(SessionWriter, CommitsWithoutBeingAsked) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  SessionWriter writer(session, {.commit_period = std::chrono::milliseconds(10)});
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  writer.spans(run, test::sample_spans(1));
  for (int tries = 0; tries < 5000 && writer.committed() < 4; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(integer_of(session, "SELECT count(*) FROM spans"), 4);
}

TEST(SessionWriter, AFullQueueHoldsTheCallerUntilThereIsSpace) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  SessionWriter writer(session,
                       {.commit_period = std::chrono::milliseconds(5), .queue_records = 8});
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  const std::vector<Span> spans = test::sample_spans(1);
  for (int i = 0; i < 200; ++i) writer.spans(run, spans);
  writer.spans(run, test::sample_spans(100));  // larger than the queue
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(writer.committed(), 200 * 4 + 400);
  EXPECT_EQ(writer.lost(), 0);
}

TEST(SessionWriter, ManyProducersAndTwoRunsLoseNothing) {
  const test::TempDirectory directory;
  Session session = Session::create(directory.file("a.shardscope")).value();
  SessionWriter writer(session, {.commit_period = std::chrono::milliseconds(3)});
  const std::int64_t a = writer.begin_run(test::sample_run("A")).value();
  const std::int64_t b = writer.begin_run(test::sample_run("B")).value();
  {
    Recorder recorder_a(writer, a, {.ranks = 2, .drain_period = std::chrono::milliseconds(1)});
    Recorder recorder_b(writer, b, {.ranks = 2, .drain_period = std::chrono::milliseconds(1)});
    std::vector<std::thread> threads;
    for (Recorder* recorder : {&recorder_a, &recorder_b}) {
      for (std::int32_t rank = 0; rank < 2; ++rank) {
        threads.emplace_back([recorder, rank] {
          for (std::int64_t i = 0; i < 4000; ++i) {
            recorder->record(Span{.start_ns = i * 10, .end_ns = i * 10 + 5, .rank = rank});
          }
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(recorder_a.dropped() + recorder_b.dropped(), 0);
  }
  ASSERT_TRUE(writer.end_run(a, {}));
  ASSERT_TRUE(writer.end_run(b, {}));
  for (const std::int64_t run : {a, b}) {
    EXPECT_EQ(integer_of(session,
                         "SELECT count(*) FROM spans JOIN tracks ON tracks.id = track "
                         "WHERE run = " +
                             std::to_string(run)),
              8000);
  }
}

TEST(SessionWriter, DoesNotMindAChangeOfTheWorkingDirectory) {
  const test::TempDirectory directory;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  {
    Session session = Session::create("a.shardscope").value();
    std::filesystem::current_path(before);
    SessionWriter writer(session);
    const std::int64_t run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, test::sample_spans(3));
    const Status ended = writer.end_run(run, {});
    EXPECT_TRUE(ended) << to_string(ended.error());
  }
  EXPECT_EQ(directory.files(), 1u);
}

TEST(SessionWriter, ClosesTheRunsOfAKilledProgramAsIncomplete) {
  const test::TempDirectory directory;
  const std::string path = directory.file("a.shardscope");
  {
    Session session = Session::create(path).value();
    SessionWriter writer(session);
    const std::int64_t run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, test::sample_spans(10));
    ASSERT_TRUE(writer.flush());
  }
  {
    const Session reader = Session::open(path, Access::read_only).value();
    EXPECT_EQ(integer_of(reader, "SELECT count(*) FROM runs WHERE end_ns IS NULL"), 1);
  }
  const Session session = Session::open(path, Access::read_write).value();
  EXPECT_EQ(integer_of(session, "SELECT end_ns - start_ns FROM runs"), 95'000'000);
  EXPECT_EQ(integer_of(session, "SELECT complete FROM runs"), 0);
  EXPECT_NE(session.state().database.text("SELECT message FROM runs").value().find("interrupted"),
            std::string::npos);
  EXPECT_GT(integer_of(session, "SELECT count(*) FROM stage_times"), 0);
}

}  // namespace
}  // namespace shardscope::storage
