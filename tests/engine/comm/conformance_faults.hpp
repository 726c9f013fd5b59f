#pragma once
// Cases of the communicator suite: ranks that disagree, do not come, or are told to stop. Include
// in exactly one .cpp of a test program, with conformance_cases.hpp.

#include <algorithm>
#include <atomic>

#include "engine/comm/progress.hpp"
#include "tests/engine/comm/conformance.hpp"

namespace shardscope::engine::conformance {

/// Every rank's error is there and names all of `words`.
inline void expect_error_naming(Ranks& ranks, const std::vector<std::string>& words) {
  for (std::int32_t rank = 0; rank < ranks.topology().ranks(); ++rank) {
    const Status status = ranks[rank].comm().status();
    ASSERT_FALSE(status) << "rank " << rank;
    const std::string text = to_string(status.error());
    for (const std::string& word : words) {
      EXPECT_NE(text.find(word), std::string::npos) << '"' << word << "\" is not in: " << text;
    }
  }
}

/// One int64 to and from every peer of a flat group, except where a test wants it otherwise.
struct SmallExchange {
  std::vector<std::int64_t> offsets, send_bytes, receive_bytes, send, receive;

  explicit SmallExchange(std::int32_t ranks)
      : send_bytes(static_cast<std::size_t>(ranks), 8),
        receive_bytes(send_bytes),
        send(static_cast<std::size_t>(ranks)),
        receive(send) {
    for (std::int64_t at = 0; at < ranks; ++at) offsets.push_back(8 * at);
  }

  void enqueue(Rank& rank) {
    rank.comm().alltoall_v(
        rank.stream(), Group::flat,
        {reinterpret_cast<const std::byte*>(send.data()), offsets.data(), send_bytes.data(),
         reinterpret_cast<std::byte*>(receive.data()), offsets.data(), receive_bytes.data()});
  }
};

inline const Error kStop{ErrorKind::runtime, "the test said stop", "test", "", ""};

TEST_P(CommunicatorConformance, AbortFromAnotherThreadWakesEveryRankWithinASecond) {
  const Topology topology = topology_of(2, 2, 2);
  const auto all_but_last = [](std::int32_t rank) { return rank != 3; };
  using Wait = std::function<void(Rank&)>;
  std::vector<float> sums(64, 1.0f);
  const std::vector<std::pair<std::string, Wait>> waits = {
      {"alltoall_v",
       [](Rank& rank) {
         SmallExchange exchange(4);
         exchange.enqueue(rank);
         rank.settle();
       }},
      {"exchange_counts",
       [](Rank& rank) {
         std::vector<std::int64_t> send(4), receive(4);
         EXPECT_FALSE(rank.comm().wait(rank.comm().exchange_counts(
             rank.stream(), Group::flat, send.data(), receive.data(), 1)));
       }},
      {"all_reduce",
       [](Rank& rank) {
         std::vector<float> data(16);
         rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), 16, DType::fp32);
         rank.settle();
       }},
      {"barrier", [](Rank& rank) {
         rank.comm().barrier(rank.stream(), Group::flat);
         rank.settle();
       }}};
  for (const auto& [name, wait] : waits) {
    SCOPED_TRACE(name);
    Ranks ranks(GetParam(), topology);
    std::atomic<std::int64_t> stopped_ns{0};
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      stopped_ns = now_ns();
      ranks[0].comm().abort(kStop);
    });
    ranks.run(wait, all_but_last);
    const std::int64_t ended_ns = now_ns();
    stopper.join();
    EXPECT_LT(ended_ns - stopped_ns, 1'000'000'000);
    expect_error_naming(ranks, {"the test said stop"});
  }
}

TEST_P(CommunicatorConformance, AfterAnAbortCallsReturnAtOnceAndTheFirstReasonStays) {
  const Topology topology = topology_of(1, 2, 2);
  Ranks ranks(GetParam(), topology);
  ranks[1].comm().abort(kStop);
  ranks[0].comm().abort({ErrorKind::runtime, "another reason", "", "", ""});
  const std::int64_t start_ns = now_ns();
  ranks.run([&](Rank& rank) {
    SmallExchange exchange(2);
    exchange.receive = {-7, -7};
    exchange.enqueue(rank);
    std::vector<std::int64_t> send(2), receive(2, -7);
    const CountsHandle handle =
        rank.comm().exchange_counts(rank.stream(), Group::flat, send.data(), receive.data(), 1);
    const Status status = rank.comm().wait(handle);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().what, "the test said stop");
    rank.comm().barrier(rank.stream(), Group::flat);
    rank.settle();
    EXPECT_EQ(exchange.receive, (std::vector<std::int64_t>{-7, -7}));
    EXPECT_EQ(receive, (std::vector<std::int64_t>{-7, -7}));
    EXPECT_EQ(rank.comm().sent(), LinkBytes{});
  });
  EXPECT_LT(now_ns() - start_ns, 1'000'000'000);
}

TEST_P(CommunicatorConformance, AbortInTheMiddleOfTrafficStopsAllRanksAndBreaksNothing) {
  const Topology topology = topology_of(2, 2, 2);
  for (int attempt = 0; attempt < 20; ++attempt) {
    Ranks ranks(GetParam(), topology);
    std::thread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(200 * attempt));
      ranks[3].comm().abort(kStop);
    });
    ranks.run([&](Rank& rank) {
      // Buffers end with the round: no peer may read them once this rank has gone on.
      while (rank.comm().status()) {
        SmallExchange exchange(4);
        exchange.enqueue(rank);
        std::vector<float> data(5000, 1.0f);
        rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), 5000, DType::fp32);
        rank.settle();
      }
    });
    stopper.join();
    expect_error_naming(ranks, {"the test said stop"});
  }
}

TEST_P(CommunicatorConformance, MismatchedSizesAreAnErrorNamingRanksSizesAndCall) {
  const Topology topology = topology_of(2, 2, 2);
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    SmallExchange exchange(4);
    rank.comm().set_label("RB input_dist");
    exchange.enqueue(rank);
    rank.comm().set_label("RB network_forward");
    SmallExchange wrong(4);
    if (rank.rank == 1) wrong.send_bytes[2] = 5;
    wrong.enqueue(rank);
    rank.settle();
  });
  expect_error_naming(
      ranks, {"rank 1 sends 5 bytes to rank 2", "expects 8", "alltoall_v", "RB network_forward"});
}

TEST_P(CommunicatorConformance, DifferentCallsAreAnErrorNamingBoth) {
  const Topology topology = topology_of(1, 2, 2);
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    if (rank.rank == 0) {
      rank.comm().set_label("update");
      rank.comm().barrier(rank.stream(), Group::flat);
      rank.settle();
    } else {
      SmallExchange exchange(2);
      rank.comm().set_label("UB network_backward");
      exchange.enqueue(rank);
      rank.settle();
    }
  });
  expect_error_naming(
      ranks, {"rank 0", "rank 1", "barrier", "update", "alltoall_v", "UB network_backward"});
}

TEST_P(CommunicatorConformance, MismatchedCountsAndSumsAreErrorsNamingBothSizes) {
  const Topology topology = topology_of(1, 2, 2);
  {
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      std::vector<std::int64_t> send(8), receive(8);
      EXPECT_FALSE(rank.comm().wait(rank.comm().exchange_counts(
          rank.stream(), Group::flat, send.data(), receive.data(), 3 + rank.rank)));
    });
    expect_error_naming(ranks, {"exchange_counts", "3 counts", "4 counts", "rank 0", "rank 1"});
  }
  {
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      std::vector<float> data(101);
      rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), 100 + rank.rank, DType::fp32);
      rank.settle();
    });
    expect_error_naming(ranks, {"all_reduce", "100 fp32", "101 fp32", "rank 0", "rank 1"});
  }
  {
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      std::vector<float> data(100);
      rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), 100,
                             rank.rank == 0 ? DType::fp16 : DType::bf16);
      rank.settle();
    });
    expect_error_naming(ranks, {"all_reduce", "fp16", "bf16", "rank 0", "rank 1"});
  }
}

TEST_P(CommunicatorConformance, APeerThatDoesNotComeIsNamedAfterTheDeadline) {
  const Topology topology = topology_of(2, 2, 2);
  const auto deadline = std::chrono::milliseconds(150);
  Ranks ranks(GetParam(), topology, 1, deadline);
  const std::int64_t start_ns = now_ns();
  ranks.run(
      [&](Rank& rank) {
        SmallExchange exchange(4);
        rank.comm().set_label("UB input_dist");
        exchange.enqueue(rank);
        rank.settle();
      },
      [](std::int32_t rank) { return rank != 2; });
  const std::int64_t took_ns = now_ns() - start_ns;
  EXPECT_GE(took_ns, 150'000'000);
  EXPECT_LT(took_ns, 5'000'000'000);
  expect_error_naming(ranks, {"rank 2 did not reach", "UB input_dist", "0.15 s"});
}

}  // namespace shardscope::engine::conformance
