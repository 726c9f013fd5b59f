// What a rank does between two moments of a running block neither allocates nor locks, traced or
// not.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

#include "engine/engine.hpp"
#include "profiler/forgetting_sink.hpp"
#include "profiler/recorder.hpp"
#include "small_config.hpp"
#include "tests/engine/allocation_count.hpp"
#include "tests/engine/lock_count.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int32_t kTimedRanks = 4;
constexpr std::int64_t kIterationsBefore = 12;  ///< every list has met every batch
constexpr std::int64_t kIterationsWatched = 8;

class CountingSink final : public ForgettingSink {
 public:
  void spans(std::int64_t /*run*/, std::span<const Span> batch) override { taken += batch.size(); }

  std::atomic<std::size_t> taken{0};
};

/// The small model: DP, flat and cut RB, UB; sum, mean, sequence. Hierarchical: RB's exchange.
EngineConfig timed_config(ScheduleKind schedule, Exchange exchange) {
  EngineConfig config = small_config(400, 3);
  config.workload.features[1].pooling = Pooling::mean;
  config.layout.clusters[static_cast<std::size_t>(ClusterType::RB)].exchange = exchange;
  config.schedule = schedule;
  return config;
}

/// Counts what the program does from one iteration's gradients of rank 0 to a later one's. The
/// hook runs in the ranks' streams, so everything between is theirs.
class Watched {
 public:
  explicit Watched(ScheduleKind schedule, Exchange exchange = Exchange::flat) {
    EngineConfig config = timed_config(schedule, exchange);
    auto source = make_batch_source(config.workload, 1, RangePolicy::error);
    EXPECT_TRUE(source.has_value());
    auto engine = Engine::create(
        config, std::move(*source),
        [this, config](std::int64_t iteration, std::int32_t rank, const RankBatch& batch,
                       std::vector<std::vector<float>>& gradients) {
          for (std::size_t f = 0; f < gradients.size(); ++f) {
            const auto dim = static_cast<std::size_t>(config.workload.tables[f].dim);
            const bool pooled = is_pooled(config.workload.features[f].pooling);
            const std::size_t rows = pooled
                                         ? batch.features[f].lengths.size()
                                         : static_cast<std::size_t>(batch.features[f].ids.size());
            if (gradients[f].capacity() < 4096) gradients[f].reserve(4096);
            gradients[f].assign(rows * dim, 0.25F);
          }
          if (rank == 0) look(iteration);
        });
    EXPECT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
  }

  void run(Recorder* recorder) {
    const auto block = engine_->run(
        static_cast<std::int32_t>(kIterationsBefore + kIterationsWatched + 4), recorder);
    ASSERT_TRUE(block.has_value()) << to_string(block.error());
  }

  std::int64_t allocations = -1;
  std::int64_t locks = -1;

 private:
  void look(std::int64_t iteration) {
    if (iteration == kIterationsBefore) {
      allocated_.emplace();
      locked_.emplace();
    }
    if (iteration == kIterationsBefore + kIterationsWatched) {
      allocations = allocated_->allocations();
      locks = locked_->locks();
    }
  }

  std::optional<AllocationCount> allocated_;
  std::optional<LockCount> locked_;
  std::unique_ptr<Engine> engine_;
};

TEST(TimedPath, NeitherAllocatesNorLocks) {
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::intra, ScheduleKind::inter}) {
    for (const Exchange exchange : {Exchange::flat, Exchange::hierarchical}) {
      SCOPED_TRACE(std::string(to_string(kind)) + " " + to_string(exchange));
      Watched watched(kind, exchange);
      watched.run(nullptr);
      EXPECT_EQ(watched.allocations, 0);
      EXPECT_EQ(watched.locks, 0);
    }
  }
}

TEST(TimedPath, NeitherAllocatesNorLocksWhileItIsTraced) {
  for (const ScheduleKind kind : {ScheduleKind::serial, ScheduleKind::inter}) {
    SCOPED_TRACE(to_string(kind));
    CountingSink sink;
    // The recorder's drain locks; it visits when the block has ended.
    Recorder recorder(
        sink, 1, {.ranks = kTimedRanks, .streams = 4, .drain_period = std::chrono::minutes(1)});
    Watched watched(kind);
    watched.run(&recorder);
    recorder.flush();
    EXPECT_GT(sink.taken.load(), 0u);
    EXPECT_EQ(watched.allocations, 0);
    EXPECT_EQ(watched.locks, 0);
  }
}

TEST(TimedPath, TheCountersCount) {
  const AllocationCount allocated;
  const LockCount locked;
  std::mutex mutex;
  {
    const std::lock_guard guard(mutex);
    EXPECT_GT(std::make_unique<std::vector<int>>(100)->size(), 0u);
  }
  EXPECT_GE(allocated.allocations(), 2);
  EXPECT_EQ(locked.locks() > 0, locks_are_counted());
}

}  // namespace
}  // namespace shardscope::engine
