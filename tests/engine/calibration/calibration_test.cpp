#include "engine/calibration/collective_times.hpp"
#include "engine/calibration/copy_rate.hpp"
#include "engine/calibration/stage_timer.hpp"

#include "engine/batches/batch.hpp"
#include "engine/comm/threads.hpp"
#include "layout/models.hpp"
#include "planner/calibration.hpp"

namespace shardscope::engine {
namespace {

Topology hosts_of_two() {
  return topology_by_name("host-cpu:1x2").value();
}

std::unique_ptr<Engine> small_probe_engine() {
  Probe probe = calibration_probes(2).front();
  for (Table& table : probe.workload.tables) table.rows = 1000;
  probe.workload.global_batch = 64;
  auto source = make_batch_source(probe.workload, 1, RangePolicy::wrap).value();
  EngineConfig config;
  config.workload = probe.workload;
  config.topology = hosts_of_two();
  config.layout = probe.layout;
  return Engine::create(std::move(config), std::move(source)).value();
}

TEST(StageTimer, StagesOfABlockAddUp) {
  const auto engine = small_probe_engine();
  StageTimer timer(*engine, StageClock::thread_cpu);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto block = timer.run_block(4);
    ASSERT_TRUE(block) << to_string(block.error());
    ASSERT_EQ(block->rank_s.size(), 2U);
    double sum = 0;
    for (const Stage stage :
         {Stage::input_dist, Stage::model_forward, Stage::network_forward, Stage::network_backward,
          Stage::index_calculation, Stage::local_reduce, Stage::update}) {
      const auto at = static_cast<std::size_t>(stage);
      EXPECT_GT(block->mean_s(stage), 0) << to_string(stage);
      EXPECT_GE(block->slowest_s[at] * (1 + 1e-9), block->mean_s(stage)) << to_string(stage);
      EXPECT_LT(block->slowest_s[at], 1) << to_string(stage);
      sum += block->slowest_s[at];
    }
    EXPECT_NEAR(block->iteration_s, sum, 1e-12);
  }
}

TEST(CollectiveTimes, EveryCollectiveIsTimedAndGrowsWithItsSize) {
  for (const Collective collective :
       {Collective::alltoall, Collective::all_reduce, Collective::counts}) {
    const auto seconds = [&](std::int64_t bytes) {
      const auto fabric = ThreadsFabric::create(hosts_of_two(), 1).value();
      const auto time = time_collective(*fabric, 2, cpu_rank_device(fabric->stream_mode()),
                                        {collective, bytes, 5}, StageClock::thread_cpu);
      EXPECT_TRUE(time) << to_string(time.error());
      return time.value_or(0);
    };
    const double small = seconds(64), large = seconds(std::int64_t{8} << 20);
    EXPECT_GT(small, 0) << to_string(collective);
    EXPECT_GT(large, small) << to_string(collective);
  }
}

TEST(CollectiveTimes, ABrokenDeviceEndsEveryRank) {
  const auto fabric = ThreadsFabric::create(hosts_of_two(), 1).value();
  RankDevice device = cpu_rank_device(fabric->stream_mode());
  device.memory = [](std::int64_t) -> Result<std::shared_ptr<std::byte>> {
    return fail({ErrorKind::runtime, "no memory", "", "", ""});
  };
  const auto time =
      time_collective(*fabric, 2, device, {Collective::alltoall, 64, 1}, StageClock::wall);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().what, "no memory");
}

TEST(CopyRate, IsThatOfAMemory) {
  const auto ops = make_cpu_ops();
  const auto rate = copy_bytes_per_s(*ops, cpu_rank_device(StreamMode::threaded),
                                     std::int64_t{4} << 20, 3, StageClock::thread_cpu);
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, 1e7);
  EXPECT_LT(*rate, 1e13);
}

}  // namespace
}  // namespace shardscope::engine
