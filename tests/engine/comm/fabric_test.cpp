// What threads and loopback promise beyond the suite of all communicators.

#include "engine/comm/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/comm/loopback.hpp"
#include "engine/comm/progress.hpp"
#include "engine/comm/threads.hpp"
#include "tests/engine/allocation_count.hpp"
#include "tests/engine/comm/conformance.hpp"
#include "tests/engine/comm/exchange_plan.hpp"

namespace shardscope::engine {
namespace {

using conformance::ExchangePlan;
using conformance::topology_of;

TEST(Fabric, RefusesWhatMakesNoSense) {
  Topology uneven = topology_of(3, 2, 4);
  EXPECT_NE(ThreadsFabric::create(uneven, 1).error().what.find("fast domains of 4"),
            std::string::npos);
  EXPECT_EQ(ThreadsFabric::create(topology_of(0, 2, 1), 1).error().kind, ErrorKind::usage);
  EXPECT_EQ(ThreadsFabric::create(topology_of(1, 2, 2), 0).error().what, "0 channels");
  EXPECT_FALSE(ThreadsFabric::create(topology_of(1, 2, 2), 1, {{-1, 0}}));
  EXPECT_FALSE(ThreadsFabric::create(topology_of(1, 2, 2), 1, {{0, 1.0 / 0.0}}));
  EXPECT_FALSE(LoopbackFabric::create(topology_of(1, 2, 2), 1, {{}, std::chrono::seconds(0)}));
  EXPECT_NE(
      LoopbackFabric::create(topology_of(1, 2, 2), 1, {{1e9, 0}}).error().what.find("loopback"),
      std::string::npos);
}

TEST(Fabric, CommunicatorsMayOutliveIt) {
  auto fabric = ThreadsFabric::create(topology_of(1, 1, 1), 1);
  ASSERT_TRUE(fabric);
  const auto comm = (*fabric)->communicator(0, 0);
  fabric->reset();
  const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
  comm->barrier(*stream, Group::flat);
  EXPECT_TRUE(comm->status());
}

/// Runs `work(rank)` on a thread for each rank, inside its turn.
void on_all_ranks(Fabric& fabric, std::int32_t ranks,
                  const std::function<void(std::int32_t)>& work) {
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&fabric, &work, rank] {
      const RankTurn turn(fabric, rank);
      work(rank);
    });
  }
  for (auto& thread : threads) thread.join();
}

template <class AnyFabric>
class FabricKinds : public ::testing::Test {};
using Kinds = ::testing::Types<ThreadsFabric, LoopbackFabric>;
TYPED_TEST_SUITE(FabricKinds, Kinds);

TYPED_TEST(FabricKinds, CallsDoNotAllocate) {
  const Topology topology = topology_of(2, 2, 2);
  auto fabric = TypeParam::create(topology, 1);
  ASSERT_TRUE(fabric);
  std::vector<std::int64_t> allocations(4, -1);
  on_all_ranks(**fabric, 4, [&](std::int32_t rank) {
    const auto comm = (*fabric)->communicator(rank, 0);
    const auto stream = make_cpu_stream((*fabric)->stream_mode(), "fabric-test");
    const auto members = conformance::members_of(topology, Group::flat, rank);
    ExchangePlan plan(members, rank, 3, 5000);
    std::vector<std::int64_t> send(4), receive(4);
    std::vector<float> data(1000);
    comm->barrier(*stream, Group::flat);
    stream->synchronize(stream->record());
    const AllocationCount before;
    for (int round = 0; round < 100; ++round) {
      const CountsHandle handle =
          comm->exchange_counts(*stream, Group::flat, send.data(), receive.data(), 1);
      EXPECT_TRUE(comm->wait(handle));
      comm->alltoall_v(*stream, Group::flat, plan.call());
      comm->all_reduce(*stream, Group::domain, data.data(), 1000, DType::bf16);
      comm->barrier(*stream, Group::rail);
    }
    stream->synchronize(stream->record());
    allocations[static_cast<std::size_t>(rank)] = before.allocations();
    comm->barrier(*stream, Group::flat);  // nobody cleans up while another still counts
    stream->synchronize(stream->record());
  });
  EXPECT_EQ(allocations, std::vector<std::int64_t>(4, 0));
}

TYPED_TEST(FabricKinds, WaitsAreToldApartFromWork) {
  auto fabric = TypeParam::create(topology_of(1, 2, 2), 1);
  ASSERT_TRUE(fabric);
  std::vector<CommTimes> times(2);
  on_all_ranks(**fabric, 2, [&](std::int32_t rank) {
    const auto comm = (*fabric)->communicator(rank, 0);
    const auto stream = make_cpu_stream((*fabric)->stream_mode(), "fabric-test");
    comm->barrier(*stream, Group::flat);
    if (rank == 1) {
      stream->enqueue([] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); });
    }
    comm->barrier(*stream, Group::flat);
    stream->synchronize(stream->record());
    times[static_cast<std::size_t>(rank)] = comm->times();
  });
  EXPECT_GE(times[0].waited_ns, 39'000'000);
  EXPECT_LT(times[0].copied_ns, 30'000'000);
  EXPECT_EQ(times[0].wire_ns, 0);
}

TEST(Loopback, ExactlyOneRankRunsAndTheyRunInAscendingOrder) {
  const Topology topology = topology_of(1, 4, 4);
  auto fabric = LoopbackFabric::create(topology, 1);
  ASSERT_TRUE(fabric);
  std::atomic<int> running{0};
  std::vector<std::int32_t> order;  // unprotected: only the rank whose turn it is touches it
  on_all_ranks(**fabric, 4, [&](std::int32_t rank) {
    const auto comm = (*fabric)->communicator(rank, 0);
    const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
    comm->barrier(*stream, Group::flat);
    for (int round = 0; round < 25; ++round) {
      EXPECT_EQ(running.fetch_add(1), 0);
      order.push_back(rank);
      std::this_thread::yield();
      EXPECT_EQ(running.fetch_sub(1), 1);
      ExchangePlan plan(conformance::members_of(topology, Group::flat, rank), rank,
                        static_cast<std::uint64_t>(round), 100);
      comm->alltoall_v(*stream, Group::flat, plan.call());
      plan.expect_received();
    }
  });
  ASSERT_EQ(order.size(), 100u);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], static_cast<std::int32_t>(i % 4)) << i;
  }
}

TEST(Loopback, TimeWithoutTheTurnIsNotTheRanksOwn) {
  auto fabric = LoopbackFabric::create(topology_of(1, 3, 3), 1);
  ASSERT_TRUE(fabric);
  std::vector<std::int64_t> own_ns(3);
  std::vector<std::int64_t> waited_ns(3);
  on_all_ranks(**fabric, 3, [&](std::int32_t rank) {
    const auto comm = (*fabric)->communicator(rank, 0);
    const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
    comm->barrier(*stream, Group::flat);
    const std::int64_t start = now_ns();
    const std::int64_t waited = (*fabric)->waited_ns(rank);
    // Work of 10, 20 and 30 ms, then an exchange, twice.
    for (int round = 0; round < 2; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10 * (rank + 1)));
      comm->barrier(*stream, Group::flat);
    }
    const auto at = static_cast<std::size_t>(rank);
    waited_ns[at] = (*fabric)->waited_ns(rank) - waited;
    own_ns[at] = now_ns() - start - waited_ns[at];
  });
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_GE(own_ns[at], 2 * 10'000'000 * (rank + 1));
    EXPECT_LT(own_ns[at], 2 * 10'000'000 * (rank + 1) + 50'000'000);  // not 120 ms
  }
  EXPECT_GE(waited_ns[0], 2 * 50'000'000 - 1'000'000);  // the others' 20 + 30 ms, twice
}

TEST(Loopback, ACircleOfWaitingRanksIsReportedAtOnce) {
  auto fabric = LoopbackFabric::create(topology_of(1, 2, 2), 2);
  ASSERT_TRUE(fabric);
  const std::int64_t start = now_ns();
  on_all_ranks(**fabric, 2, [&](std::int32_t rank) {
    const std::unique_ptr<Communicator> comms[2] = {(*fabric)->communicator(rank, 0),
                                                    (*fabric)->communicator(rank, 1)};
    const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
    comms[0]->set_label("allreduce");
    comms[1]->set_label("UB network_forward");
    comms[rank]->barrier(*stream, Group::flat);  // each its own channel first
    comms[1 - rank]->barrier(*stream, Group::flat);
  });
  EXPECT_LT(now_ns() - start, 5'000'000'000);  // far below the deadline of 60 s
  ASSERT_FALSE((*fabric)->status());
  const std::string text = to_string((*fabric)->status().error());
  for (const char* word : {"no rank can go on", "rank 0 waits in barrier of 'allreduce'",
                           "rank 1 waits in barrier of 'UB network_forward'"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(Loopback, ARankThatEndsEarlyIsReportedAtOnce) {
  auto fabric = LoopbackFabric::create(topology_of(1, 3, 3), 1);
  ASSERT_TRUE(fabric);
  on_all_ranks(**fabric, 3, [&](std::int32_t rank) {
    const auto comm = (*fabric)->communicator(rank, 0);
    const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
    if (rank != 1) comm->barrier(*stream, Group::flat);
  });
  ASSERT_FALSE((*fabric)->status());
  EXPECT_NE(to_string((*fabric)->status().error()).find("rank 1 has ended its work"),
            std::string::npos);
}

TEST(Loopback, RanksMayComeBackForAnotherRun) {
  auto fabric = LoopbackFabric::create(topology_of(1, 3, 3), 1);
  ASSERT_TRUE(fabric);
  std::vector<std::unique_ptr<Communicator>> comms;
  for (std::int32_t rank = 0; rank < 3; ++rank) comms.push_back((*fabric)->communicator(rank, 0));
  for (int run = 0; run < 20; ++run) {
    on_all_ranks(**fabric, 3, [&](std::int32_t rank) {
      const auto stream = make_cpu_stream(StreamMode::inline_, "fabric-test");
      comms[static_cast<std::size_t>(rank)]->barrier(*stream, Group::flat);
    });
    ASSERT_TRUE((*fabric)->status()) << to_string((*fabric)->status().error());
  }
}

}  // namespace
}  // namespace shardscope::engine
