// The collector on a CUPTI of the tests' own making.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "profiler/clock.hpp"
#include "profiler/cupti_collector.hpp"
#include "tests/profiler/fake_cupti.hpp"
#include "tests/profiler/recording_sink.hpp"

namespace shardscope::cupti {
namespace {

class CuptiCollector : public ::testing::Test {
 protected:
  CuptiCollector() { fake_cupti() = &cupti; }
  ~CuptiCollector() override {
    fake_cupti() = nullptr;
    correlation_stack().clear();
  }

  FakeCupti cupti;
  CuptiApi api = fake_cupti_api();
  test::RecordingSink sink;
  CollectorConfig config{5, 1000, {0}, std::chrono::milliseconds(1)};
};

TEST_F(CuptiCollector, HandsRecordsOnWhileTheRunGoesOnAndAtItsEnd) {
  auto collector = Collector::start(api, sink, config);
  ASSERT_TRUE(collector) << to_string(collector.error());
  EXPECT_TRUE(cupti.enabled.contains(static_cast<std::uint32_t>(RecordKind::concurrent_kernel)));
  deliver(RecordBuffer().add(kernel_of(0, 1010, 1020)).bytes());
  const std::int64_t deadline = steady_ns() + 5'000'000'000;
  while (sink.activities_seen().size() == 0 && steady_ns() < deadline) std::this_thread::yield();
  EXPECT_EQ(sink.activities_seen().size(), 1U);
  cupti.last = RecordBuffer().add(kernel_of(3, 1030, 1040)).add(kernel_of(0, 1050, 1060)).bytes();
  (*collector)->stop();
  EXPECT_EQ(sink.activities_seen().size(), 3U) << "also those whose call never came";
  EXPECT_TRUE(cupti.enabled.empty());
  EXPECT_EQ((*collector)->counts().records, 3);
}

TEST_F(CuptiCollector, TellsTheSinkWhatWasDropped) {
  auto collector = Collector::start(api, sink, config);
  ASSERT_TRUE(collector);
  cupti.dropped = 42;
  (*collector)->stop();
  EXPECT_EQ(sink.dropped_seen(), 42);
}

TEST_F(CuptiCollector, KeepsOneWorkAThreadOnCuptisStack) {
  auto collector = Collector::start(api, sink, config);
  ASSERT_TRUE(collector);
  (*collector)->begin_work({0, 1, Stage::input_dist, Work::RB});
  (*collector)->begin_work({0, 1, Stage::update, Work::RB});
  ASSERT_EQ(correlation_stack().size(), 1U);
  EXPECT_EQ(from_external_id(correlation_stack()[0]).stage, Stage::update);
  (*collector)->end_work();
  EXPECT_TRUE(correlation_stack().empty());
}

TEST_F(CuptiCollector, NamesTheNodesOfAGraphAsTheyAreCapturedAndCopied) {
  config.graphs = true;
  auto collector = Collector::start(api, sink, config);
  ASSERT_TRUE(collector) << to_string(collector.error());
  (*collector)->begin_work({1, 3, Stage::model_forward, Work::RB});
  make_graph_node(20);
  (*collector)->begin_work({1, 3, Stage::update, Work::DP});
  make_graph_node(21);
  (*collector)->end_work();
  make_graph_node(22);  // of nobody's work
  for (const std::uint64_t node : {20, 21, 22}) make_graph_node(node + 100, node);
  RecordBuffer buffer;
  buffer.add(correlation_of(9, to_external_id({1, 8, Stage::model_forward, Work::RB})));
  for (const std::uint64_t node : {120, 121, 122}) {
    KernelRecord kernel = kernel_of(9, 2000 + node, 2001 + node);
    kernel.graph_node = node;
    buffer.add(kernel);
  }
  MemcpyRecord copy;
  copy.start = 3000;
  copy.end = 3001;
  copy.correlation = 9;
  copy.graph_node = 121;
  cupti.last = buffer.add(copy).bytes();
  (*collector)->stop();
  EXPECT_EQ(cupti.callback, nullptr);
  const auto& records = sink.activities_seen();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].stage, Stage::model_forward);
  EXPECT_EQ(records[1].stage, Stage::update);
  EXPECT_EQ(records[1].work, Work::DP);
  EXPECT_EQ(records[2].stage, Stage::model_forward) << "its launch speaks for it";
  EXPECT_EQ(records[3].stage, Stage::update);
  for (const ActivityRecord& record : records) {
    EXPECT_EQ(record.rank, 1);
    EXPECT_EQ(record.iteration, 8) << "that of the launch, not of the capture";
  }
}

TEST_F(CuptiCollector, WatchesGraphsOnlyWhereThereAreSomeAndSaysWhenItCannot) {
  auto collector = Collector::start(api, sink, config);
  ASSERT_TRUE(collector);
  EXPECT_EQ(cupti.callback, nullptr);
  (*collector)->stop();
  config.graphs = true;
  cupti.subscribe_error = kSubscriberTaken;
  const auto refused = Collector::start(api, sink, config);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "another profiler is attached to this process");
  EXPECT_TRUE(cupti.enabled.empty());
}

TEST_F(CuptiCollector, SaysThatAnotherProfilerIsAttached) {
  cupti.enable_error = kSubscriberTaken;
  cupti.failing_kind = static_cast<std::uint32_t>(RecordKind::concurrent_kernel);
  const auto collector = Collector::start(api, sink, config);
  ASSERT_FALSE(collector);
  EXPECT_EQ(collector.error().what, "another profiler is attached to this process");
}

TEST_F(CuptiCollector, LeavesNothingEnabledAfterAFailure) {
  cupti.enable_error = 999;
  cupti.failing_kind = static_cast<std::uint32_t>(RecordKind::runtime);
  const auto collector = Collector::start(api, sink, config);
  ASSERT_FALSE(collector);
  EXPECT_NE(collector.error().what.find("made by the test (999)"), std::string::npos);
  EXPECT_TRUE(cupti.enabled.empty());
}

TEST_F(CuptiCollector, RefusesAnOldLibrary) {
  cupti.version = 17;
  const auto collector = Collector::start(api, sink, config);
  ASSERT_FALSE(collector);
  EXPECT_EQ(collector.error().what, "CUPTI has API version 17");
}

TEST(CuptiLibrary, RefusesToTraceWithoutADriverAndSaysWhy) {
  const Result<const CuptiApi*> api = cupti_api();
  if (!api) GTEST_SKIP() << "CUPTI is not installed";
  test::RecordingSink sink;
  const auto collector = Collector::start(**api, sink, {});
  if (collector) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_NE(collector.error().what.find("failed with"), std::string::npos)
      << to_string(collector.error());
}

}  // namespace
}  // namespace shardscope::cupti
