#include "engine/stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "engine/comm/progress.hpp"
#include "tests/engine/allocation_count.hpp"

namespace shardscope::engine {
namespace {

constexpr StreamMode kStreamModes[] = {StreamMode::threaded, StreamMode::inline_,
                                       StreamMode::deferred};

class AnyStream : public ::testing::TestWithParam<StreamMode> {
 protected:
  [[nodiscard]] std::unique_ptr<Stream> make() const {
    return make_cpu_stream(GetParam(), "stream-test");
  }
};

std::string name_of_mode(const ::testing::TestParamInfo<StreamMode>& mode) {
  switch (mode.param) {
    case StreamMode::threaded:
      return "threaded";
    case StreamMode::inline_:
      return "inline";
    case StreamMode::deferred:
      return "deferred";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Modes, AnyStream, ::testing::ValuesIn(kStreamModes), name_of_mode);

TEST_P(AnyStream, RunsCallsInOrder) {
  const auto stream = make();
  std::vector<int> order;
  order.reserve(5000);
  auto* out = &order;
  for (int i = 0; i < 5000; ++i) stream->enqueue([out, i] { out->push_back(i); });
  stream->synchronize(stream->record());
  std::vector<int> expected(5000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(AnyStream, AnEventCoversOnlyWhatWasEnqueuedBefore) {
  const auto stream = make();
  int value = 0;
  auto* at = &value;
  stream->enqueue([at] { *at = 1; });
  const Event event = stream->record();
  stream->synchronize(event);
  EXPECT_EQ(value, 1);
  stream->synchronize(event);  // complete for good
  stream->enqueue([at] { *at = 2; });
  stream->synchronize(stream->record());
  EXPECT_EQ(value, 2);
}

TEST_P(AnyStream, AnEventOfAnEmptyStreamAndTheDefaultEventAreComplete) {
  const auto stream = make();
  stream->synchronize(stream->record());
  stream->synchronize(Event{});
  stream->wait(Event{});
  stream->wait(stream->record());
  stream->synchronize(stream->record());
}

TEST_P(AnyStream, WaitsForAnotherStream) {
  const auto producer = make();
  const auto consumer = make();
  for (int round = 0; round < 200; ++round) {
    int value = 0;
    int seen = -1;
    auto* from = &value;
    auto* to = &seen;
    producer->enqueue([from, round] {
      if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      *from = round;
    });
    consumer->wait(producer->record());
    consumer->enqueue([from, to] { *to = *from; });
    consumer->synchronize(consumer->record());
    ASSERT_EQ(seen, round);
  }
}

TEST_P(AnyStream, ChainsOfWaitsBackAndForthRunInOrder) {
  const auto a = make();
  const auto b = make();
  std::vector<int> log;
  log.reserve(2000);
  auto* out = &log;
  for (int i = 0; i < 1000; ++i) {
    a->enqueue([out, i] { out->push_back(2 * i); });
    b->wait(a->record());
    b->enqueue([out, i] { out->push_back(2 * i + 1); });
    a->wait(b->record());
  }
  a->synchronize(a->record());
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log, expected);
}

TEST_P(AnyStream, NeverAllocatesWhenEnqueueing) {
  const auto stream = make();
  const auto other = make();
  std::atomic<std::int64_t> sum{0};
  auto* total = &sum;
  const AllocationCount before;
  for (int i = 0; i < 3000; ++i) {
    stream->enqueue([total, i] { total->fetch_add(i); });
    if (i % 16 == 0) other->wait(stream->record());
    if (i % 100 == 0) other->synchronize(other->record());
  }
  stream->synchronize(stream->record());
  EXPECT_EQ(before.allocations(), 0);
  EXPECT_EQ(sum.load(), 3000 * 2999 / 2);
}

TEST(ThreadedStream, EnqueueReturnsBeforeTheWorkHasRun) {
  const auto stream = make_cpu_stream(StreamMode::threaded, "stream-test");
  Progress gate;
  auto* opened = &gate;
  bool ran = false;
  auto* flag = &ran;
  stream->enqueue([opened] { opened->wait(1); });
  stream->enqueue([flag] { *flag = true; });
  const Event event = stream->record();
  gate.advance();  // reached only because enqueue did not wait
  stream->synchronize(event);
  EXPECT_TRUE(ran);
}

TEST(ThreadedStream, AFullQueueHoldsTheHostUntilThereIsRoom) {
  const auto stream = make_cpu_stream(StreamMode::threaded, "stream-test");
  Progress gate;
  auto* opened = &gate;
  std::atomic<int> enqueued{0};
  std::atomic<int> ran{0};
  auto* runs = &ran;
  stream->enqueue([opened] { opened->wait(1); });
  std::thread host([&] {
    for (int i = 0; i < 4000; ++i) {
      stream->enqueue([runs] { runs->fetch_add(1); });
      enqueued.fetch_add(1);
    }
    stream->synchronize(stream->record());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LT(enqueued.load(), 4000);
  EXPECT_EQ(ran.load(), 0);
  gate.advance();
  host.join();
  EXPECT_EQ(ran.load(), 4000);
}

TEST(ThreadedStream, DestructionRunsWhatIsLeft) {
  std::atomic<int> ran{0};
  auto* runs = &ran;
  {
    const auto stream = make_cpu_stream(StreamMode::threaded, "stream-test");
    for (int i = 0; i < 100; ++i) stream->enqueue([runs] { runs->fetch_add(1); });
  }
  EXPECT_EQ(ran.load(), 100);
}

TEST(DeferredStream, NothingRunsBeforeSomebodyAsks) {
  const auto stream = make_cpu_stream(StreamMode::deferred, "stream-test");
  int value = 0;
  auto* at = &value;
  stream->enqueue([at] { *at = 1; });
  const Event first = stream->record();
  stream->enqueue([at] { *at = 2; });
  EXPECT_EQ(value, 0);
  stream->synchronize(first);
  EXPECT_EQ(value, 1);  // and not what was enqueued behind the event
}

TEST(DeferredStream, AMissingWaitShowsStaleData) {
  const auto producer = make_cpu_stream(StreamMode::deferred, "stream-test");
  const auto consumer = make_cpu_stream(StreamMode::deferred, "stream-test");
  int value = 0;
  int seen = -1;
  auto* from = &value;
  auto* to = &seen;
  producer->enqueue([from] { *from = 7; });
  consumer->enqueue([from, to] { *to = *from; });  // no wait on the producer
  consumer->synchronize(consumer->record());
  EXPECT_EQ(seen, 0);
}

TEST(DeferredStream, AWaitPullsOnlyTheWorkItNeedsThroughOtherStreams) {
  const auto first = make_cpu_stream(StreamMode::deferred, "stream-test");
  const auto second = make_cpu_stream(StreamMode::deferred, "stream-test");
  const auto third = make_cpu_stream(StreamMode::deferred, "stream-test");
  std::vector<int> log;
  auto* out = &log;
  first->enqueue([out] { out->push_back(1); });
  second->wait(first->record());
  first->enqueue([out] { out->push_back(100); });
  second->enqueue([out] { out->push_back(2); });
  third->wait(second->record());
  second->enqueue([out] { out->push_back(200); });
  third->enqueue([out] { out->push_back(3); });
  third->synchronize(third->record());
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
}

TEST(DeferredStream, DestructionDropsWhatNobodyAskedFor) {
  int value = 0;
  auto* at = &value;
  {
    make_cpu_stream(StreamMode::deferred, "stream-test")->enqueue([at] { *at = 1; });
  }
  EXPECT_EQ(value, 0);
}

TEST(Progress, WakesEverySleeperWhoseTargetIsReached) {
  Progress progress;
  std::vector<std::thread> sleepers;
  std::atomic<int> awake{0};
  for (std::uint64_t target = 1; target <= 8; ++target) {
    sleepers.emplace_back([&, target] {
      progress.wait(target);
      EXPECT_GE(progress.value(), target);
      awake.fetch_add(1);
    });
  }
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    progress.advance();
  }
  for (auto& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(awake.load(), 8);
}

TEST(Progress, AWaitWithATimeEndsThen) {
  Progress progress;
  const auto start = Clock::now();
  EXPECT_FALSE(progress.wait_until(1, start + std::chrono::milliseconds(20)));
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(20));
  progress.advance();
  EXPECT_TRUE(progress.wait_until(1, start));
}

}  // namespace
}  // namespace shardscope::engine
