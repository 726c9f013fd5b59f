#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "storage/access.hpp"
#include "storage/queries/codecs.hpp"
#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"
#include "storage/queries/timeline.hpp"
#include "storage/session_writer.hpp"
#include "storage/sqlite/query.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

class Queries : public testing::Test {
 protected:
  std::int64_t record(std::int32_t iterations, bool end) {
    SessionWriter writer(session_);
    const std::int64_t run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, test::sample_spans(iterations));
    writer.iterations(run, test::sample_iterations(iterations));
    writer.dropped(run, 5);
    EXPECT_TRUE(writer.flush());
    if (end) {
      EXPECT_TRUE(writer.end_run(run, {.samples_per_s = 123.5,
                                       .iteration_ms = 5,
                                       .critical_path_ms = 4,
                                       .tracing_overhead = 0.01,
                                       .complete = true,
                                       .message = "done"}));
    }
    return run;
  }

  test::TempDirectory directory_;
  Session session_ = Session::create(directory_.file("a.shardscope")).value();
};

TEST_F(Queries, ARunIsListedWithEverythingBesideItsResult) {
  const std::int64_t id = record(20, true);
  const std::vector<RunRecord> runs = list_runs(session_).value();
  ASSERT_EQ(runs.size(), 1u);
  const RunRecord& run = runs[0];
  EXPECT_EQ(run.id, id);
  EXPECT_EQ(run.label, "A");
  EXPECT_EQ(run.mode, "emulated");
  EXPECT_EQ(run.executor, "engine");
  EXPECT_EQ(run.backend, "cpu");
  EXPECT_EQ(run.comm, "threads");
  EXPECT_EQ(run.wire, "10,2");
  EXPECT_EQ(run.schedule, "intra");
  EXPECT_EQ(run.seed, "18446744073709551615");
  EXPECT_EQ(run.global_batch, 65536);
  EXPECT_EQ(run.rows_cap, 100000);
  EXPECT_EQ(run.ranks, 2);
  EXPECT_EQ(run.workload_name, "dcnv2");
  EXPECT_EQ(run.topology_name, "dgx-h100");
  EXPECT_EQ(run.layout_name, "table_row_wise");
  EXPECT_EQ(run.environment_json, R"({"host": "test"})");
  EXPECT_GE(run.start_utc_ns, session_.start_utc_ns());
  EXPECT_GT(run.duration_ns, 0);
  EXPECT_TRUE(run.ended);
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.message, "done");
  EXPECT_DOUBLE_EQ(run.samples_per_s, 123.5);
  EXPECT_DOUBLE_EQ(run.tracing_overhead, 0.01);
  EXPECT_EQ(run.iterations, 19) << "iteration 0 is warm-up";
  EXPECT_EQ(run.traced_iterations, 19);
  EXPECT_EQ(run.spans, 80);
  EXPECT_EQ(run.dropped, 5);
}

TEST_F(Queries, ARunThatGoesOnHasNoFiguresYet) {
  const std::int64_t id = record(3, false);
  const RunRecord run = find_run(session_, id).value();
  EXPECT_FALSE(run.ended);
  EXPECT_FALSE(run.complete);
  EXPECT_TRUE(std::isnan(run.samples_per_s));
  EXPECT_EQ(run.duration_ns, 0);
}

TEST_F(Queries, ARunThatIsNotThereIsAUsageError) {
  const Result<RunRecord> run = find_run(session_, 7);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
  EXPECT_THAT(to_string(run.error()), testing::HasSubstr("no run 7"));
}

TEST_F(Queries, StagesAreTheSameFromTheStoredSumsAndFromTheSpans) {
  const std::int64_t ended = record(20, true);
  const std::int64_t going_on = record(20, false);
  const RunStages stored = run_stages(session_, ended).value();
  const RunStages scanned = run_stages(session_, going_on).value();
  EXPECT_EQ(stored.iterations, 19);
  EXPECT_EQ(stored.iterations, scanned.iterations);
  EXPECT_EQ(stored.totals, scanned.totals);
  const std::vector<StageRow> table = stored.table();
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].stage, Stage::model_forward);
  EXPECT_DOUBLE_EQ(table[0].ms_max, 2);
  EXPECT_DOUBLE_EQ(table[0].ms_mean, 1.5);
  EXPECT_EQ(table[0].slowest_rank, 1);
  EXPECT_DOUBLE_EQ(table[1].intra_bytes, 2 * 4096);
  EXPECT_DOUBLE_EQ(table[1].inter_bytes, 2 * 1024);
  ASSERT_EQ(stored.ranks().size(), 2u);
}

TEST_F(Queries, ARunThatTracedNothingHasAnEmptyTable) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  ASSERT_TRUE(writer.end_run(run, {}));
  const RunStages stages = run_stages(session_, run).value();
  EXPECT_EQ(stages.iterations, 0);
  EXPECT_TRUE(stages.table().empty());
}

TEST_F(Queries, IterationsComeBackAsRecorded) {
  const std::int64_t run = record(10, true);
  EXPECT_EQ(iterations_of(session_, run).value(), test::sample_iterations(10));
}

TEST_F(Queries, ALossThatWasNotComputedIsNotANumber) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  const std::vector<Iteration> none = {Iteration{.loss = std::nan("")}};
  writer.iterations(run, none);
  ASSERT_TRUE(writer.flush());
  EXPECT_TRUE(std::isnan(iterations_of(session_, run).value().at(0).loss));
}

TEST_F(Queries, SpansOfATimeRangeComeByStart) {
  const std::int64_t run = record(20, true);
  const Track track = run_tracks(session_, run).value().at(1);
  EXPECT_EQ(track.rank, 1);
  const auto spans = spans_in(session_, track, 100'000'000, 120'000'000, 100).value();
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].start_ns, 100'000'000);
  EXPECT_EQ(spans[3].start_ns, 113'000'000);
  EXPECT_EQ(spans[0].rank, 1);
  EXPECT_EQ(spans_in(session_, track, 0, 1'000'000'000, 3).value().size(), 3u);
}

TEST_F(Queries, TheTimelineReadsTheSameItemsFromTheFileAsFromMemory) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<Span> spans;
  std::int64_t now = 0;
  for (int i = 0; i < 4000; ++i) {
    now += static_cast<std::int64_t>(random() % (i % 97 == 0 ? 50'000 : 20));
    const auto length = static_cast<std::int64_t>(random() % (i % 31 == 0 ? 5000 : 90));
    spans.push_back(Span{.start_ns = now, .end_ns = now + length});
    if (i % 13 == 0) spans.push_back(spans.back());  // equal starts
    now += length;
  }
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  writer.spans(run, spans);
  ASSERT_TRUE(writer.flush());
  const Track track = run_tracks(session_, run).value().at(0);
  const auto going_on = visible_items(session_, track.id, 0, now, 200).value();
  ASSERT_TRUE(writer.end_run(run, {}));
  EXPECT_EQ(going_on.size(), visible_items(session_, track.id, 0, now, 200).value().size());
  const Levels levels = make_levels(spans);
  for (int view = 0; view < 60; ++view) {
    std::int64_t begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(now));
    std::int64_t end = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(now)) + 1;
    if (begin > end) std::swap(begin, end);
    const auto max_items = 1 + static_cast<std::int64_t>(random() % 2000);
    auto stored = visible_items(session_, track.id, begin, end, max_items).value();
    auto in_memory = visible(levels, begin, end, resolution_for(begin, end, max_items));
    // Ids differ (rowid, index); what they point at must not.
    ASSERT_EQ(stored.size(), in_memory.size());
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const std::int64_t start = stored[i].first_start_ns;
      EXPECT_FALSE(spans_in(session_, track, start, start + 1, 1).value().empty());
      stored[i].first_span = in_memory[i].first_span = 0;
    }
    ASSERT_EQ(stored, in_memory) << "view " << begin << " to " << end;
  }
}

TEST_F(Queries, ATimelinesRowsAreFoundThroughTheIndex) {
  record(5, true);
  const ReadAccess access(session_);
  std::string plan;
  ASSERT_TRUE(for_each_row(
      access.database(),
      "EXPLAIN QUERY PLAN SELECT end_ns FROM spans WHERE track = 1 AND (start_ns, rowid) >= (2, 3) "
      "ORDER BY start_ns, rowid LIMIT 8",
      [&](const Statement& row) { plan += row.text(3); }));
  EXPECT_THAT(plan, testing::HasSubstr("spans_track_start"));
  EXPECT_THAT(plan, testing::HasSubstr("(track=? AND start_ns>?)"));
  EXPECT_THAT(plan, testing::Not(testing::HasSubstr("TEMP B-TREE")));
}

TEST_F(Queries, WhatCodecsDidIsSummedByStageClusterAndCodec) {
  SessionWriter writer(session_);
  const std::int64_t run = writer.begin_run(test::sample_run()).value();
  CodecSum expected;
  for (std::int32_t iteration = 0; iteration < 3; ++iteration) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      CodecWork work{iteration,
                     rank,
                     Stage::network_forward,
                     Work::UB,
                     "dedup-huffman",
                     1000 + iteration,
                     50,
                     40,
                     7,
                     4096,
                     300 + 10 * iteration};
      writer.codec_work(run, {&work, 1});
      expected.add(work);
      work.stage = Stage::network_backward;
      work.codec = "bf16";
      writer.codec_work(run, {&work, 1});
      expected.add(work);
    }
  }
  ASSERT_TRUE(writer.end_run(run, {}));
  const auto totals = run_codecs(session_, run);
  ASSERT_TRUE(totals);
  EXPECT_EQ(*totals, expected.totals());
  ASSERT_EQ(totals->size(), 2u);
  const CodecTotals& forward = totals->front();
  EXPECT_EQ(forward.codec, "dedup-huffman");
  EXPECT_EQ(forward.chunks, 42);
  EXPECT_DOUBLE_EQ(forward.ratio(), 4096.0 / 310);
  EXPECT_DOUBLE_EQ(forward.before_per_iteration(), 2 * 4096);
  EXPECT_DOUBLE_EQ(forward.encode_ms(), 50e-6);
  EXPECT_TRUE(run_codecs(session_, run + 1)->empty());
}

}  // namespace
}  // namespace shardscope::storage
