// The NCCL communicator against the suite that all communicators pass, on an NCCL of threads, and
// what becomes of a lost peer.

#include <gmock/gmock.h>

#include "engine/cuda/nccl_fabric.hpp"
#include "tests/engine/comm/conformance_cases.hpp"
#include "tests/engine/comm/conformance_faults.hpp"
#include "tests/engine/cuda/fake_nccl.hpp"

namespace shardscope::engine::conformance {
namespace {

class NcclWorld final : public World {
 public:
  explicit NcclWorld(std::unique_ptr<cuda::NcclFabric> fabric) : fabric_(std::move(fabric)) {}

  std::unique_ptr<Communicator> communicator(std::int32_t rank, std::int32_t channel) override {
    return fabric_->communicator(rank, channel);
  }
  std::unique_ptr<Stream> stream() override {
    return make_cpu_stream(StreamMode::threaded, "conformance");
  }

 private:
  std::unique_ptr<cuda::NcclFabric> fabric_;
};

Implementation nccl_on_threads() {
  Implementation implementation;
  implementation.name = "nccl";
  implementation.streams_run_at_once = true;
  implementation.offers_peer_window = true;
  implementation.make = [](const Topology& topology, std::int32_t channels,
                           std::chrono::nanoseconds deadline) {
    auto fabric =
        cuda::NcclFabric::create(topology, channels, {{}, deadline}, cuda::fake_nccl_port());
    EXPECT_TRUE(fabric) << to_string(fabric.error());
    return std::make_unique<NcclWorld>(std::move(*fabric));
  };
  return implementation;
}

INSTANTIATE_TEST_SUITE_P(Of, CommunicatorConformance, ::testing::Values(nccl_on_threads()),
                         name_of_implementation);

/// Sets a fault for the length of a test.
class NcclFaults : public ::testing::Test {
 protected:
  ~NcclFaults() override {
    faults.failing_rank = -1;
    faults.hanging_rank = -1;
    faults.init_error = cuda::kNcclSuccess;
  }
  cuda::FakeNcclFaults& faults = cuda::fake_nccl_faults();
};

TEST_F(NcclFaults, ALostPeerEndsTheRunNamingRankAndStage) {
  const Topology topology = topology_of(2, 2, 2);
  Ranks ranks(nccl_on_threads(), topology);
  faults.hanging_rank = 2;  // its process is gone: nothing of it moves any more
  std::thread network([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    faults.failing_rank = 2;
  });
  const std::int64_t start_ns = now_ns();
  ranks.run([](Rank& rank) {
    rank.comm().set_label("RB network_backward");
    SmallExchange exchange(4);
    exchange.enqueue(rank);
    rank.settle();
  });
  network.join();
  EXPECT_LT(now_ns() - start_ns, 1'060'000'000);
  expect_error_naming(ranks, {"on rank 2", "remote process exited", "RB network_backward"});
}

TEST_F(NcclFaults, AHangEndsAtTheDeadlineNamingWhoDidNotFinish) {
  const Topology topology = topology_of(1, 2, 2);
  Ranks ranks(nccl_on_threads(), topology, 1, std::chrono::milliseconds(120));
  faults.hanging_rank = 1;
  ranks.run([](Rank& rank) {
    rank.comm().set_label("UB network_forward");
    SmallExchange exchange(2);
    exchange.enqueue(rank);
    rank.settle();
  });
  expect_error_naming(ranks, {"did not finish", "rank 1", "UB network_forward", "0.12 s"});
}

TEST_F(NcclFaults, MismatchedSizesNeverReachNccl) {
  const Topology topology = topology_of(1, 2, 2);
  Ranks ranks(nccl_on_threads(), topology);
  const int before = faults.groups;
  ranks.run([](Rank& rank) {
    SmallExchange exchange(2);
    if (rank.rank == 0) exchange.send_bytes[1] = 4;
    exchange.enqueue(rank);
    rank.settle();
  });
  EXPECT_LE(faults.groups - before, 1) << "the second rank saw it before it enqueued";
  expect_error_naming(ranks, {"rank 0 sends 4 bytes to rank 1", "expects 8"});
}

TEST_F(NcclFaults, GraphsAreLaunchedByAllRanksOrNone) {
  Ranks ranks(nccl_on_threads(), topology_of(1, 4, 4));
  std::atomic<int> agreed{0};
  ranks.run([&](Rank& rank) {
    for (int turn = 0; turn < 200; ++turn) {
      const bool all = rank.comm().agree_on_graph(turn % 5 != rank.rank);
      EXPECT_EQ(all, turn % 5 == 4) << turn;
      agreed += all ? 1 : 0;
    }
  });
  EXPECT_EQ(agreed, 4 * 40);
}

TEST_F(NcclFaults, ARankThatDoesNotComeToTheLaunchOfAGraphIsNamed) {
  Ranks ranks(nccl_on_threads(), topology_of(1, 2, 2), 1, std::chrono::milliseconds(120));
  ranks.run([](Rank& rank) {
    if (rank.rank != 0) return;
    EXPECT_FALSE(rank.comm().agree_on_graph(true));
  });
  expect_error_naming(ranks, {"rank 1", "did not come to the launch of a graph", "0.12 s"});
}

TEST_F(NcclFaults, AGraphThatARankDoesNotFinishEndsAtTheDeadlineNamingItsStages) {
  Ranks ranks(nccl_on_threads(), topology_of(1, 2, 2), 1, std::chrono::milliseconds(120));
  ranks.run([](Rank& rank) {
    if (rank.rank == 1) {
      rank.stream().enqueue([] { std::this_thread::sleep_for(std::chrono::milliseconds(400)); });
    }
    rank.comm().set_label("RB model_forward to DP update");
    rank.comm().launched_graph(rank.stream());
    rank.settle();
  });
  expect_error_naming(ranks, {"did not finish", "rank 1", "RB model_forward to DP update"});
}

TEST_F(NcclFaults, AFailedStartIsAnError) {
  faults.init_error = 5;
  const auto fabric = cuda::NcclFabric::create(topology_of(1, 2, 2), 1, {}, cuda::fake_nccl_port());
  ASSERT_FALSE(fabric);
  EXPECT_THAT(fabric.error().what, ::testing::HasSubstr("on rank 0"));
}

TEST(NcclFabric, RefusesThrottledWires) {
  FabricOptions options;
  options.wire = {1e9, 1e9};
  const auto fabric =
      cuda::NcclFabric::create(topology_of(1, 2, 2), 1, options, cuda::fake_nccl_port());
  ASSERT_FALSE(fabric);
  EXPECT_EQ(fabric.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace shardscope::engine::conformance
