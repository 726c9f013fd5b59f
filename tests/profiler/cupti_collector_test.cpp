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
