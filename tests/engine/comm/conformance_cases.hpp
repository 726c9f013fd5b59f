#pragma once
// Cases of the communicator suite: what travels, where to, and what is counted. Include in exactly
// one .cpp of a test program, with conformance_faults.hpp.

#include <algorithm>
#include <atomic>
#include <numeric>

#include "engine/comm/peer_window.hpp"
#include "engine/comm/reduce.hpp"
#include "engine/cpu/half.hpp"
#include "tests/engine/comm/conformance.hpp"
#include "tests/engine/comm/exchange_plan.hpp"

namespace shardscope::engine::conformance {

TEST_P(CommunicatorConformance, NumbersPeersInAscendingRankOrder) {
  for (const Topology& topology : topologies()) {
    SCOPED_TRACE(topology.name);
    Ranks ranks(GetParam(), topology);
    for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
      const Communicator& comm = ranks[rank].comm();
      EXPECT_EQ(comm.rank(), rank);
      EXPECT_EQ(comm.size(), topology.ranks());
      for (const Group group : kAllGroups) {
        const auto members = members_of(topology, group, rank);
        EXPECT_EQ(comm.group_size(group), static_cast<std::int32_t>(members.size()));
        EXPECT_EQ(members[static_cast<std::size_t>(comm.group_rank(group))], rank);
      }
      EXPECT_EQ(comm.group_rank(Group::domain), topology.rail_of(rank));
      EXPECT_EQ(comm.group_rank(Group::rail), topology.domain_of(rank));
    }
  }
}

TEST_P(CommunicatorConformance, AllToAllMovesEveryByteAndNoOther) {
  for (const Topology& topology : topologies()) {
    SCOPED_TRACE(topology.name);
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      std::uint64_t seed = 0;
      for (const Group group : kAllGroups) {
        for (const std::int64_t largest : {0, 1, 100, 5000}) {
          ExchangePlan plan(members_of(topology, group, rank.rank), rank.rank, ++seed, largest);
          rank.comm().alltoall_v(rank.stream(), group, plan.call());
          rank.settle();
          plan.expect_received();
        }
      }
    });
    ranks.expect_no_error();
  }
}

TEST_P(CommunicatorConformance, SeveralExchangesMayBeUnderWayOnOneStream) {
  const Topology topology = topology_of(2, 2, 2);
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    std::vector<ExchangePlan> plans;
    std::vector<Group> groups;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      groups.push_back(kAllGroups[seed % 3]);
      plans.emplace_back(members_of(topology, groups.back(), rank.rank), rank.rank, seed, 3000);
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      rank.comm().alltoall_v(rank.stream(), groups[i], plans[i].call());
    }
    rank.settle();
    for (const ExchangePlan& plan : plans) plan.expect_received();
  });
  ranks.expect_no_error();
}

TEST_P(CommunicatorConformance, LargeMessagesArriveWhole) {
  const Topology topology = topology_of(1, 2, 2);
  constexpr std::int64_t kWords = (9 << 20) / 8 + 3;
  const auto pattern = [](std::int32_t from, std::int32_t to) {
    std::vector<std::int64_t> words(kWords);
    std::iota(words.begin(), words.end(), std::int64_t{1'000'000'000} * (2 * from + to + 1));
    return words;
  };
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    std::vector<std::int64_t> send = pattern(rank.rank, 0);
    const std::vector<std::int64_t> second = pattern(rank.rank, 1);
    send.insert(send.end(), second.begin(), second.end());
    std::vector<std::int64_t> receive(send.size());
    const std::int64_t offsets[2] = {0, kWords * 8};
    const std::int64_t bytes[2] = {kWords * 8, kWords * 8};
    rank.comm().alltoall_v(rank.stream(), Group::flat,
                           {reinterpret_cast<const std::byte*>(send.data()), offsets, bytes,
                            reinterpret_cast<std::byte*>(receive.data()), offsets, bytes});
    rank.settle();
    std::vector<std::int64_t> expected = pattern(0, rank.rank);
    const std::vector<std::int64_t> from_one = pattern(1, rank.rank);
    expected.insert(expected.end(), from_one.begin(), from_one.end());
    EXPECT_TRUE(receive == expected);
  });
  ranks.expect_no_error();
}

TEST_P(CommunicatorConformance, LargeSumsComeOutWhole) {
  const Topology topology = topology_of(1, 2, 2);
  constexpr std::int64_t kCount = 2'300'001;
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    std::vector<float> data(kCount);
    std::iota(data.begin(), data.end(), static_cast<float>(rank.rank));
    rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), kCount, DType::fp32);
    rank.settle();
    std::int64_t wrong = 0;
    for (std::int64_t at = 0; at < kCount; ++at) {
      if (data[static_cast<std::size_t>(at)] != static_cast<float>(2 * at + 1)) ++wrong;
    }
    EXPECT_EQ(wrong, 0);
  });
  ranks.expect_no_error();
}

TEST_P(CommunicatorConformance, CountsReachTheirPeers) {
  const auto count = [](std::int32_t from, std::int32_t to, std::int32_t slot) {
    return std::int64_t{1'000'000'000'000} * (from + 1) + 1000 * to + slot;
  };
  for (const Topology& topology : topologies()) {
    SCOPED_TRACE(topology.name);
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      for (const Group group : kAllGroups) {
        const auto members = members_of(topology, group, rank.rank);
        for (const std::int32_t slots : {1, 3, 40}) {
          std::vector<std::int64_t> send, receive, expected;
          for (const std::int32_t peer : members) {
            for (std::int32_t slot = 0; slot < slots; ++slot) {
              send.push_back(count(rank.rank, peer, slot));
              expected.push_back(count(peer, rank.rank, slot));
            }
          }
          receive.resize(send.size());
          const CountsHandle handle =
              rank.comm().exchange_counts(rank.stream(), group, send.data(), receive.data(), slots);
          EXPECT_TRUE(rank.comm().wait(handle));
          EXPECT_EQ(receive, expected);
        }
      }
    });
    ranks.expect_no_error();
  }
}

/// Element `at` of a rank's part of a sum: values whose sum depends on the order.
[[nodiscard]] inline float part_of_sum(std::int32_t rank, std::int64_t at) {
  const std::uint64_t mixed =
      (static_cast<std::uint64_t>(rank + 1) << 32 | static_cast<std::uint64_t>(at)) *
      0x9e3779b97f4a7c15u;
  const float scale = (mixed >> 63) == 0 ? 1.0f : 300.0f;
  return scale * (static_cast<float>((mixed >> 40) % 20'001) - 10'000.0f) / 10'000.0f;
}

[[nodiscard]] inline std::vector<std::byte> encoded(const std::vector<float>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::fp32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else {
      const std::uint16_t half =
          dtype == DType::fp16 ? float_to_fp16(values[i]) : float_to_bf16(values[i]);
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
  }
  return bytes;
}

[[nodiscard]] inline std::vector<float> decoded(const std::vector<std::byte>& bytes, DType dtype) {
  std::vector<float> values(bytes.size() / static_cast<std::size_t>(bytes_of(dtype)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::fp32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
    } else {
      std::uint16_t half = 0;
      std::memcpy(&half, bytes.data() + 2 * i, 2);
      values[i] = dtype == DType::fp16 ? fp16_to_float(half) : bf16_to_float(half);
    }
  }
  return values;
}

[[nodiscard]] inline std::vector<std::byte> encoded_part(std::int32_t rank, std::int64_t count,
                                                         DType dtype) {
  std::vector<float> values;
  for (std::int64_t at = 0; at < count; ++at) values.push_back(part_of_sum(rank, at));
  return encoded(values, dtype);
}

/// What all_reduce promises: fp32 sums in ascending rank order, rounded once.
[[nodiscard]] inline std::vector<std::byte> expected_sum(const std::vector<std::int32_t>& members,
                                                         std::int64_t count, DType dtype) {
  std::vector<float> sum;
  for (const std::int32_t member : members) {
    const std::vector<float> part = decoded(encoded_part(member, count, dtype), dtype);
    if (sum.empty()) {
      sum = part;
    } else {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
  }
  return encoded(sum, dtype);
}

TEST_P(CommunicatorConformance, AllReduceSumsInAscendingRankOrderAndRoundsOnce) {
  for (const Topology& topology : topologies()) {
    SCOPED_TRACE(topology.name);
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      for (const Group group : kAllGroups) {
        const auto members = members_of(topology, group, rank.rank);
        for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
          for (const std::int64_t count : {0, 1, 3, 7, 8, 9, 259}) {
            std::vector<std::byte> data = encoded_part(rank.rank, count, dtype);
            rank.comm().all_reduce(rank.stream(), group, data.data(), count, dtype);
            rank.settle();
            EXPECT_TRUE(data == expected_sum(members, count, dtype))
                << "rank " << rank.rank << ", " << count << " elements of type "
                << static_cast<int>(dtype);
          }
        }
      }
    });
    ranks.expect_no_error();
  }
}

TEST_P(CommunicatorConformance, AllReduceGivesTheSameBitsWhoeverComesFirst) {
  const Topology topology = topology_of(1, 4, 4);
  constexpr std::int64_t kCount = 1001;
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    const auto expected =
        expected_sum(members_of(topology, Group::flat, rank.rank), kCount, DType::fp32);
    for (int round = 0; round < 12; ++round) {
      std::vector<std::byte> data = encoded_part(rank.rank, kCount, DType::fp32);
      const int lateness = (rank.rank + round) % 4;
      rank.stream().enqueue(
          [lateness] { std::this_thread::sleep_for(std::chrono::milliseconds(lateness)); });
      rank.comm().all_reduce(rank.stream(), Group::flat, data.data(), kCount, DType::fp32);
      rank.settle();
      EXPECT_TRUE(data == expected) << "round " << round;
    }
  });
}

TEST_P(CommunicatorConformance, NobodyLeavesABarrierBeforeAllHaveCome) {
  const Topology topology = topology_of(2, 2, 2);
  for (const Group group : kAllGroups) {
    Ranks ranks(GetParam(), topology);
    std::vector<std::atomic<int>> came(4);
    ranks.run([&](Rank& rank) {
      const auto members = members_of(topology, group, rank.rank);
      for (int round = 1; round <= 50; ++round) {
        auto* mine = &came[static_cast<std::size_t>(rank.rank)];
        rank.stream().enqueue([mine, round] { mine->store(round); });
        rank.comm().barrier(rank.stream(), group);
        rank.settle();
        for (const std::int32_t peer : members) {
          EXPECT_GE(came[static_cast<std::size_t>(peer)].load(), round);
        }
      }
    });
    ranks.expect_no_error();
  }
}

TEST_P(CommunicatorConformance, ResultsAreVisibleToAStreamThatWaitsForTheEvent) {
  const Topology topology = topology_of(1, 3, 3);
  Ranks ranks(GetParam(), topology, 2);
  ranks.run([&](Rank& rank) {
    for (std::uint64_t round = 0; round < 40; ++round) {
      ExchangePlan plan(members_of(topology, Group::flat, rank.rank), rank.rank, round, 2000);
      std::vector<std::byte> copy(plan.receive.size());
      rank.comm(0).alltoall_v(rank.stream(0), Group::flat, plan.call());
      rank.stream(1).wait(rank.stream(0).record());
      auto* from = &plan.receive;
      auto* to = &copy;
      rank.stream(1).enqueue([from, to] { std::copy(from->begin(), from->end(), to->begin()); });
      rank.stream(1).synchronize(rank.stream(1).record());
      plan.receive = copy;
      plan.expect_received();
    }
  });
}

TEST_P(CommunicatorConformance, CountsTheBytesOfEveryLinkClassExactly) {
  for (const Topology& topology : topologies()) {
    SCOPED_TRACE(topology.name);
    Ranks ranks(GetParam(), topology);
    ranks.run([&](Rank& rank) {
      LinkBytes expected;
      const auto sends = [&](std::int32_t to, std::int64_t bytes) {
        if (topology.link(rank.rank, to) == LinkClass::intra) expected.intra += bytes;
        if (topology.link(rank.rank, to) == LinkClass::inter) expected.inter += bytes;
      };
      EXPECT_EQ(rank.comm().sent(), expected);
      for (const Group group : kAllGroups) {
        const auto members = members_of(topology, group, rank.rank);
        const auto peers = static_cast<std::int32_t>(members.size());
        ExchangePlan plan(members, rank.rank, 5, 700);
        rank.comm().alltoall_v(rank.stream(), group, plan.call());
        for (std::int32_t peer = 0; peer < peers; ++peer) {
          sends(members[static_cast<std::size_t>(peer)],
                plan.send_bytes[static_cast<std::size_t>(peer)]);
        }
        std::vector<std::int64_t> counts(static_cast<std::size_t>(3 * peers)), got(counts);
        const CountsHandle handle =
            rank.comm().exchange_counts(rank.stream(), group, counts.data(), got.data(), 3);
        EXPECT_TRUE(rank.comm().wait(handle));
        for (const std::int32_t member : members) sends(member, 3 * 8);
        for (const DType dtype : {DType::fp32, DType::bf16}) {
          std::vector<std::byte> data = encoded_part(rank.rank, 103, dtype);
          rank.comm().all_reduce(rank.stream(), group, data.data(), 103, dtype);
          rank.comm().barrier(rank.stream(), group);
          rank.settle();
          const auto chunk = [&](std::int32_t peer) {
            return (103 / peers + (peer < 103 % peers ? 1 : 0)) * bytes_of(dtype);
          };
          for (std::int32_t peer = 0; peer < peers; ++peer) {
            sends(members[static_cast<std::size_t>(peer)],
                  chunk(peer) + chunk(rank.comm().group_rank(group)));
          }
        }
        EXPECT_EQ(rank.comm().sent(), expected);
      }
    });
    ranks.expect_no_error();
  }
}

TEST_P(CommunicatorConformance, SentIsReadInTheOrderOfTheStream) {
  const Topology topology = topology_of(1, 2, 2);
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    std::vector<ExchangePlan> plans;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      plans.emplace_back(members_of(topology, Group::flat, rank.rank), rank.rank, seed, 900);
    }
    std::vector<std::int64_t> seen(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      rank.comm().alltoall_v(rank.stream(), Group::flat, plans[i].call());
      const Communicator* comm = &rank.comm();
      std::int64_t* at = &seen[i];
      rank.stream().enqueue([comm, at] { *at = comm->sent().intra; });
    }
    rank.settle();
    std::int64_t total = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      total += plans[i].send_bytes[static_cast<std::size_t>(1 - rank.rank)];
      EXPECT_EQ(seen[i], total);
    }
  });
}

TEST_P(CommunicatorConformance, ChannelsInDifferentOrdersDoNotDisturbEachOther) {
  if (!GetParam().streams_run_at_once) GTEST_SKIP() << "its streams run one after another";
  const Topology topology = topology_of(2, 2, 2);
  constexpr std::int32_t kChannels = 3;
  Ranks ranks(GetParam(), topology, kChannels);
  ranks.run([&](Rank& rank) {
    for (std::uint64_t round = 0; round < 40; ++round) {
      std::vector<ExchangePlan> plans;
      for (std::uint64_t channel = 0; channel < kChannels; ++channel) {
        plans.emplace_back(members_of(topology, kAllGroups[channel], rank.rank), rank.rank,
                           round * kChannels + channel, 3000);
      }
      for (std::size_t step = 0; step < kChannels; ++step) {
        const std::size_t channel =
            (step + static_cast<std::size_t>(rank.rank) + round) % kChannels;
        rank.comm(channel).alltoall_v(rank.stream(channel), kAllGroups[channel],
                                      plans[channel].call());
      }
      rank.settle();
      for (const ExchangePlan& plan : plans) plan.expect_received();
    }
  });
  ranks.expect_no_error();
}

TEST_P(CommunicatorConformance, ThousandsOfMixedCallsStayCorrect) {
  const Topology topology = topology_of(2, 2, 2);
  constexpr std::uint64_t kCalls = 3000;
  Ranks ranks(GetParam(), topology);
  ranks.run([&](Rank& rank) {
    for (std::uint64_t call = 0; call < kCalls && !::testing::Test::HasFailure(); ++call) {
      const Group group = kAllGroups[(call * 7 / 5) % 3];
      const auto members = members_of(topology, group, rank.rank);
      if (call % 4 == 0) {
        std::vector<std::int64_t> send(members.size(), static_cast<std::int64_t>(call) + rank.rank);
        std::vector<std::int64_t> receive(members.size());
        const CountsHandle handle =
            rank.comm().exchange_counts(rank.stream(), group, send.data(), receive.data(), 1);
        ASSERT_TRUE(rank.comm().wait(handle));
        for (std::size_t peer = 0; peer < members.size(); ++peer) {
          EXPECT_EQ(receive[peer], static_cast<std::int64_t>(call) + members[peer]);
        }
      } else if (call % 4 == 1) {
        std::vector<float> data(5, static_cast<float>(rank.rank + 1));
        rank.comm().all_reduce(rank.stream(), group, data.data(), 5, DType::fp32);
        rank.settle();
        float sum = 0;
        for (const std::int32_t member : members) sum += static_cast<float>(member + 1);
        EXPECT_EQ(data, std::vector<float>(5, sum));
      } else {
        ExchangePlan plan(members, rank.rank, call, 200);
        rank.comm().alltoall_v(rank.stream(), group, plan.call());
        rank.settle();
        plan.expect_received();
      }
    }
  });
  ranks.expect_no_error();
}

TEST_P(CommunicatorConformance, PeersOfADomainWriteIntoEachOthersWindows) {
  const Topology topology = topology_of(2, 4, 4);
  Ranks ranks(GetParam(), topology);
  if (ranks[0].comm().peer_window() == nullptr) {
    EXPECT_FALSE(GetParam().offers_peer_window);
    GTEST_SKIP() << "it offers no peer window";
  }
  static constexpr std::int64_t kPart = 300;
  ranks.run([&](Rank& rank) {
    const std::int32_t peers = rank.comm().group_size(Group::domain);
    const std::int32_t me = rank.comm().group_rank(Group::domain);
    std::vector<std::int64_t> buffer(static_cast<std::size_t>(peers * kPart), -1);
    const auto bytes = static_cast<std::int64_t>(buffer.size() * sizeof(std::int64_t));
    PeerWindow* window = rank.comm().peer_window();
    window->publish(rank.stream(), reinterpret_cast<std::byte*>(buffer.data()), bytes);
    for (std::int64_t round = 0; round < 20; ++round) {
      for (std::int32_t peer = 0; peer < peers; ++peer) {
        const std::int64_t value = round * 10'000 + rank.rank * 100 + peer;
        rank.stream().enqueue([window, peer, me, value] {
          auto* to = reinterpret_cast<std::int64_t*>(window->peer(peer)) + me * kPart;
          std::fill_n(to, kPart, value);
        });
        window->wrote(rank.stream(), peer, kPart * 8);
      }
      window->fence(rank.stream(), (peers - 1) * kPart * 8);
      rank.settle();
      EXPECT_EQ(window->peer_bytes(0), bytes);
      for (std::int32_t peer = 0; peer < peers; ++peer) {
        const std::int32_t writer = topology.domain_of(rank.rank) * peers + peer;
        const std::int64_t value = round * 10'000 + writer * 100 + me;
        EXPECT_EQ(
            std::count(buffer.begin() + peer * kPart, buffer.begin() + (peer + 1) * kPart, value),
            kPart);
      }
      rank.comm().barrier(rank.stream(), Group::domain);
    }
    rank.settle();
    EXPECT_EQ(rank.comm().sent(), (LinkBytes{20 * (peers - 1) * kPart * 8, 0}));
  });
  ranks.expect_no_error();
}

}  // namespace shardscope::engine::conformance
