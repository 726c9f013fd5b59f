// Stages as graphs: on emulated GPUs whose captures are replayed, from single streams to whole
// commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "app/jobs/profile_job.hpp"
#include "app/run_setup.hpp"
#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/host/ops.hpp"
#include "tests/engine/cuda/command_cases.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/temp_directory.hpp"

#include <nlohmann/json.hpp>

namespace shardscope::engine::cuda {
namespace {

/// A stream of an emulated GPU with graphs, and lists to sort on it.
class StageGraphs : public ::testing::Test {
 protected:
  ~StageGraphs() override {
    for (const char* call : {"begin_capture", "instantiate_graph"}) {
      set_emulated_error(call, kCudaSuccess);
    }
  }

  /// Sorts `count` random rows in a graph and compares with the CPU. What the turn became.
  GraphCounts sort(std::int64_t count) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(count));
    for (std::int32_t& row : rows) row = static_cast<std::int32_t>(generator_() % kRows);
    const auto size = static_cast<std::size_t>(count);
    std::vector<std::int64_t> unique(size), expected;
    std::vector<std::uint32_t> offsets(size + 1), sorted(size);
    std::int64_t found = -1;
    SortIndex call;
    call.count = count;
    call.rows = rows.data();
    call.row_limit = kRows;
    call.unique_rows = unique.data();
    call.offsets = offsets.data();
    call.sorted_gradient_row = sorted.data();
    call.unique_count = &found;
    const GraphCounts before = stream_->graph_counts();
    enqueue_as_graph(
        *stream_, 7, {},
        [&] {
          ops_->sort_index(*stream_, {&call, 1});
        },
        as_ready);
    stream_->synchronize(stream_->record());
    EXPECT_TRUE(stream_->status()) << to_string(stream_->status().error());
    expected.assign(rows.begin(), rows.end());
    std::sort(expected.begin(), expected.end());
    std::vector<std::int64_t> read;
    for (const std::uint32_t position : sorted) read.push_back(rows[position]);
    EXPECT_EQ(read, expected);
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    unique.resize(static_cast<std::size_t>(std::max<std::int64_t>(found, 0)));
    EXPECT_EQ(unique, expected);
    EXPECT_EQ(offsets[unique.size()], static_cast<std::uint32_t>(count));
    const GraphCounts after = stream_->graph_counts();
    return {after.direct - before.direct, after.launched - before.launched,
            after.overflows - before.overflows};
  }

  static bool as_ready(bool ready) { return ready; }

  static constexpr std::int64_t kRows = 64;  // all keys of 6 bits: what pads is as large as some
  std::mt19937 generator_{5};
  std::unique_ptr<CudaStream> stream_ =
      *CudaStream::create(emulated_plugin().runtime, 0, "test", HostTasks::queued, true);
  std::unique_ptr<Ops> ops_{make_host_cuda_ops()};
};

TEST_F(StageGraphs, AreMeasuredCapturedAndFilledAnewWithOtherLists) {
  EXPECT_EQ(sort(100).direct, 1);
  for (const int count : {100, 37, 0, 1, 150, 176}) {
    EXPECT_EQ(sort(count).launched, 1) << count;
  }
}

TEST_F(StageGraphs, RunWithoutWhereTheCapacityIsTooSmallAndAreCapturedAgain) {
  sort(100);
  sort(100);
  const GraphCounts overflow = sort(400);
  EXPECT_EQ(overflow.overflows, 1);
  EXPECT_EQ(overflow.launched, 0);
  EXPECT_EQ(overflow.direct, 0) << "a run is counted once";
  EXPECT_EQ(sort(10).launched, 1) << "the turn that overflowed measured the graph's new capacity";
  EXPECT_EQ(sort(400).launched, 1);
}

TEST_F(StageGraphs, RunTasksOfTheHostWithWhatTheyBringEachTime) {
  int expected = 0, sum = 0;
  for (int turn = 1; turn < 6; ++turn) {
    enqueue_as_graph(
        *stream_, 3, {}, [&] { stream_->enqueue([&sum, turn] { sum += turn; }); }, as_ready);
    stream_->synchronize(stream_->record());
    expected += turn;
    EXPECT_EQ(sum, expected) << turn;
  }
  EXPECT_EQ(stream_->graph_counts().launched, 4);
}

TEST_F(StageGraphs, LeaveOutWhatNoGraphHolds) {
  const auto stream =
      *CudaStream::create(emulated_plugin().runtime, 0, "test", HostTasks::inline_, true);
  int ran = 0;
  for (int turn = 0; turn < 4; ++turn) {
    enqueue_as_graph(
        *stream, 3, {}, [&] { stream->enqueue([&ran] { ++ran; }); }, as_ready);
    EXPECT_EQ(ran, turn + 1);
  }
  EXPECT_EQ(stream->graph_counts().launched, 0);
}

TEST_F(StageGraphs, HoldTheWorkOfSeveralStreamsInItsOrder) {
  const auto other =
      *CudaStream::create(emulated_plugin().runtime, 0, "other", HostTasks::queued, true);
  const auto outside =
      *CudaStream::create(emulated_plugin().runtime, 0, "outside", HostTasks::queued, true);
  Stream* joined[] = {other.get()};
  for (int turn = 1; turn < 6; ++turn) {
    std::vector<int> order;
    Event halfway;
    Moment moments[2];
    const auto note = [&order](Stream& stream, int what) {
      stream.enqueue([to = &order, what] { to->push_back(what); });
    };
    note(*outside, 0);
    const Event before = outside->record();
    enqueue_as_graph(
        *stream_, 4, joined,
        [&] {
          stream_->wait(before);
          stream_->mark(&moments[0]);
          note(*stream_, 1);
          halfway = stream_->record();
          other->wait(halfway);
          note(*other, 2);
          const Event end = other->record();
          stream_->wait(end);
          note(*stream_, 3);
          stream_->mark(&moments[1]);
        },
        as_ready);
    if (turn == 1) stream_->synchronize(stream_->record());  // not a graph yet
    outside->wait(halfway);
    outside->synchronize(outside->record());
    note(*other, 4);
    other->synchronize(other->record());
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4})) << turn;
    stream_->resolve_marks();
    EXPECT_GT(moments[0].ns, 0) << turn;
    EXPECT_GE(moments[1].ns, moments[0].ns) << turn;
    EXPECT_TRUE(stream_->status()) << to_string(stream_->status().error());
    EXPECT_TRUE(other->status()) << to_string(other->status().error());
  }
  EXPECT_EQ(stream_->graph_counts().launched, 4);
}

TEST_F(StageGraphs, RunWithoutWhereAPeerIsNotReady) {
  int ran = 0;
  const auto turn = [&](bool peer) {
    enqueue_as_graph(
        *stream_, 5, {}, [&] { stream_->enqueue([&ran] { ++ran; }); },
        [&](bool ready) { return ready && peer; });
    stream_->synchronize(stream_->record());
  };
  for (int n = 0; n < 6; ++n) turn(n != 3);
  EXPECT_EQ(ran, 6);
  EXPECT_EQ(stream_->graph_counts().launched, 4);
  EXPECT_EQ(stream_->graph_counts().overflows, 1);
}

TEST_F(StageGraphs, GoOnWithoutADriverThatCaptures) {
  set_emulated_error("begin_capture", 999);
  for (int turn = 0; turn < 4; ++turn) EXPECT_EQ(sort(50).direct, 1);
}

TEST_F(StageGraphs, GoOnWithoutADriverThatTakesThem) {
  set_emulated_error("instantiate_graph", 999);
  for (int turn = 0; turn < 20; ++turn) EXPECT_EQ(sort(50).launched, 0);
}

TEST(StageGraphsOff, AreNotBegunOnAStreamWithoutThem) {
  const auto stream = *CudaStream::create(emulated_plugin().runtime, 0, "test", HostTasks::queued);
  EXPECT_FALSE(stream->begin_graph(0));
  EXPECT_FALSE(stream->has_graphs());
}

/// Losses and counts of a run on two GPUs.
struct GraphRun {
  std::vector<double> losses;
  std::vector<std::vector<float>> weights;
  GraphCounts counts;
};

GraphRun run_on_gpus(const app::Inputs& inputs, const Layout& layout, ScheduleKind schedule,
                     bool graphs) {
  app::RunOptions options = app::cuda_options("nccl");
  options.schedule = schedule;
  options.graphs = graphs;
  const auto engine = app::make_engine(options, inputs, layout);
  EXPECT_TRUE(engine) << to_string(engine.error());
  GraphRun run;
  for (int block = 0; block < 3; ++block) {
    const auto done = (*engine)->run(4, nullptr);
    EXPECT_TRUE(done) << to_string(done.error());
    if (!done) return run;
    for (const Iteration& iteration : done->iterations) run.losses.push_back(iteration.loss);
  }
  for (std::int32_t t = 0; t < 3; ++t) run.weights.push_back((*engine)->weights(t));
  run.counts = (*engine)->graph_counts();
  return run;
}

TEST(RankGraphs, AreOneAnIterationWhereExchangesHaveFixedSizesAndLearnTheSame) {
  const app::Inputs inputs = app::small_inputs(2);
  Layout layout = app::mixed_layout(inputs);
  layout.tables[2] = layout.tables[0];  // DP, RB, DP
  layout.tables[1].row_shards = 2;      // without column cuts no sums of squares travel
  layout.tables[1].column_cuts = {0, 8};
  layout.tables[1].owners = {1, 0};
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    const GraphRun off = run_on_gpus(inputs, layout, kind, false);
    const GraphRun on = run_on_gpus(inputs, layout, kind, true);
    EXPECT_EQ(on.losses, off.losses) << to_string(kind);
    EXPECT_EQ(on.weights, off.weights) << to_string(kind);
    EXPECT_EQ(off.counts.launched, 0);
    // 12 iterations, 2 ranks: both batch slots are measured once.
    EXPECT_EQ(on.counts.direct, 2 * 2) << to_string(kind);
    EXPECT_EQ(on.counts.launched + on.counts.overflows, 2 * 10) << to_string(kind);
    EXPECT_GT(on.counts.launched, on.counts.overflows) << to_string(kind);
    EXPECT_EQ(on.counts.overflows % 2, 0) << "all ranks launch theirs, or none";
  }
}

TEST(RankGraphs, AreSplitAtExchangesOfOtherSizesAndLearnTheSame) {
  const app::Inputs inputs = app::small_inputs(2);
  const Layout layout = app::mixed_layout(inputs);
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    const GraphRun off = run_on_gpus(inputs, layout, kind, false);
    const GraphRun on = run_on_gpus(inputs, layout, kind, true);
    EXPECT_EQ(on.losses, off.losses) << to_string(kind);
    EXPECT_EQ(on.weights, off.weights) << to_string(kind);
    EXPECT_GT(on.counts.launched, 2 * 12) << "several an iteration";
  }
}

TEST(GraphCommand, ProfilesWithGraphsLearnsTheSameAndCountsThem) {
  const app::Inputs inputs = app::small_inputs(2);
  const Layout layout = app::mixed_layout(inputs);
  const test::TempDirectory directory;
  const int open = emulated_open();
  double losses[2] = {};
  for (const bool graphs : {false, true}) {
    app::RunOptions options = app::cuda_options("nccl");
    options.schedule = ScheduleKind::inter;
    options.graphs = graphs;
    options.iterations = 12;
    const auto engine = app::make_engine(options, inputs, layout);
    ASSERT_TRUE(engine) << to_string(engine.error());
    const auto done = (*engine)->run(12, nullptr);
    ASSERT_TRUE(done) << to_string(done.error());
    losses[graphs ? 1 : 0] = done->iterations.back().loss;
    EXPECT_EQ((*engine)->graph_counts().launched > 0, graphs);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(emulated_open(), open);
  app::RunOptions options = app::cuda_options("loopback");
  options.graphs = true;
  const auto session = app::OpenSession::open(directory.file("a.shardscope"), "profile").value();
  const auto engine = app::make_engine(options, inputs, layout);
  ASSERT_TRUE(engine) << to_string(engine.error());
  app::PatientWatch watch;
  const auto done = app::run_profile(**engine, options, inputs, layout, *session, watch);
  ASSERT_TRUE(done) << to_string(done.error());
  const auto json = app::profile_json(inputs, layout, *done);
  EXPECT_GT(json["graphs"]["launched"].get<int>(), 0);
}

}  // namespace
}  // namespace shardscope::engine::cuda
