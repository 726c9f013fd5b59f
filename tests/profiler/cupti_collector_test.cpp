// The collector on a CUPTI of the tests' own making.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "profiler/clock.hpp"
#include "profiler/cupti_collector.hpp"
#include "tests/profiler/cupti_buffers.hpp"
#include "tests/profiler/recording_sink.hpp"

namespace shardscope::cupti {
namespace {

/// What the fake library was told and what it does. Its functions carry no pointer of ours.
struct FakeCupti {
  std::uint32_t version = 130001;
  int enable_error = kSuccess;
  std::uint32_t failing_kind = 0;  ///< enable_error is for this kind
  std::set<std::uint32_t> enabled;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  std::atomic<std::size_t> dropped{0};
  std::vector<std::uint64_t> stack;
  std::vector<std::uint8_t> last;  ///< handed over at the forced flush
};

FakeCupti* fake = nullptr;

/// Fills a buffer of the collector and gives it back, from the calling thread.
void deliver(const std::vector<std::uint8_t>& bytes) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 1;
  fake->requested(&buffer, &size, &most);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer) % 8, 0U);
  EXPECT_EQ(most, 0U);
  ASSERT_LE(bytes.size(), size);
  std::memcpy(buffer, bytes.data(), bytes.size());
  fake->completed(nullptr, 0, buffer, size, bytes.size());
}

CuptiApi fake_api() {
  CuptiApi api = walking_api();
  api.get_version = [](std::uint32_t* version) {
    *version = fake->version;
    return kSuccess;
  };
  api.set_attribute = [](int, std::size_t*, void*) { return kSuccess; };
  api.set_thread_id_type = [](int) { return kSuccess; };
  api.register_timestamp = [](std::uint64_t (*)()) { return kSuccess; };
  api.register_callbacks = [](BufferRequested requested, BufferCompleted completed) {
    fake->requested = requested;
    fake->completed = completed;
    return kSuccess;
  };
  api.enable = [](std::uint32_t kind) {
    if (kind == fake->failing_kind) return fake->enable_error;
    fake->enabled.insert(kind);
    return kSuccess;
  };
  api.disable = [](std::uint32_t kind) {
    fake->enabled.erase(kind);
    return kSuccess;
  };
  api.flush_all = [](std::uint32_t flag) {
    if (flag == kFlushForced && !fake->last.empty()) deliver(fake->last);
    return kSuccess;
  };
  api.dropped_records = [](void*, std::uint32_t, std::size_t* dropped) {
    *dropped = fake->dropped.exchange(0);
    return kSuccess;
  };
  api.push_correlation = [](std::uint32_t, std::uint64_t id) {
    fake->stack.push_back(id);
    return kSuccess;
  };
  api.pop_correlation = [](std::uint32_t, std::uint64_t* id) {
    if (fake->stack.empty()) return 1;
    *id = fake->stack.back();
    fake->stack.pop_back();
    return kSuccess;
  };
  api.error_text = [](int, const char** text) {
    *text = "made by the test";
    return kSuccess;
  };
  return api;
}

class CuptiCollector : public ::testing::Test {
 protected:
  CuptiCollector() { fake = &cupti; }
  ~CuptiCollector() override { fake = nullptr; }

  FakeCupti cupti;
  CuptiApi api = fake_api();
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
  ASSERT_EQ(cupti.stack.size(), 1U);
  EXPECT_EQ(from_external_id(cupti.stack[0]).stage, Stage::update);
  (*collector)->end_work();
  EXPECT_TRUE(cupti.stack.empty());
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
