#pragma once
// The suite every communicator passes. An implementation is described by a value; a test program
// includes conformance_cases.hpp in one .cpp and instantiates the suite with its implementations.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "engine/stream.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine::conformance {

/// The ranks of one test. Communicators and streams must not outlive it.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual std::unique_ptr<Communicator> communicator(std::int32_t rank,
                                                                   std::int32_t channel) = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> stream() = 0;
  /// Called by a rank's thread around all it does.
  virtual void enter(std::int32_t /*rank*/) {}
  virtual void leave(std::int32_t /*rank*/) {}
};

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<World>(const Topology& topology, std::int32_t channels,
                                       std::chrono::nanoseconds deadline)>
      make;
  /// Streams of a rank run at the same time: ranks may use their channels in different orders.
  bool streams_run_at_once = true;
  /// peer_window() is not null.
  bool offers_peer_window = true;

  friend void PrintTo(const Implementation& implementation, std::ostream* out) {
    *out << implementation.name;
  }
};

inline constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(60);

[[nodiscard]] inline Topology topology_of(std::int32_t hosts, std::int32_t gpus_per_host,
                                          std::int32_t fast_domain) {
  Topology topology;
  topology.name = std::to_string(hosts) + "x" + std::to_string(gpus_per_host) + "/" +
                  std::to_string(fast_domain);
  topology.hosts = hosts;
  topology.gpus_per_host = gpus_per_host;
  topology.fast_domain = fast_domain;
  return topology;
}

/// 1, 2, 3, 4 and 8 ranks; 2x2, 2x4, 3x2; a domain smaller than a host and one larger.
[[nodiscard]] inline std::vector<Topology> topologies() {
  return {topology_of(1, 1, 1), topology_of(1, 2, 2), topology_of(1, 3, 3), topology_of(1, 4, 4),
          topology_of(1, 8, 8), topology_of(2, 2, 2), topology_of(2, 4, 4), topology_of(3, 2, 2),
          topology_of(4, 1, 1), topology_of(2, 4, 2), topology_of(4, 2, 4)};
}

/// Ranks of the group of `rank`, ascending; computed from the header's words alone.
[[nodiscard]] inline std::vector<std::int32_t> members_of(const Topology& topology, Group group,
                                                          std::int32_t rank) {
  std::vector<std::int32_t> members;
  for (std::int32_t other = 0; other < topology.ranks(); ++other) {
    const bool together =
        group == Group::flat ||
        (group == Group::domain && topology.domain_of(other) == topology.domain_of(rank)) ||
        (group == Group::rail && topology.rail_of(other) == topology.rail_of(rank));
    if (together) members.push_back(other);
  }
  return members;
}

inline constexpr Group kAllGroups[] = {Group::flat, Group::domain, Group::rail};

/// What one rank's thread has in hand.
struct Rank {
  std::int32_t rank = 0;
  std::vector<std::unique_ptr<Communicator>> channels;
  std::vector<std::unique_ptr<Stream>> streams;  ///< one a channel

  [[nodiscard]] Communicator& comm(std::size_t channel = 0) { return *channels[channel]; }
  [[nodiscard]] Stream& stream(std::size_t channel = 0) { return *streams[channel]; }
  /// Waits until all streams are idle.
  void settle() {
    for (const auto& each : streams) each->synchronize(each->record());
  }
};

/// Everything of one test: a topology, a world and a thread for every rank.
class Ranks {
 public:
  Ranks(const Implementation& implementation, const Topology& topology, std::int32_t channels = 1,
        std::chrono::nanoseconds deadline = kPatience)
      : topology_(topology), world_(implementation.make(topology, channels, deadline)) {
    for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
      Rank& made = ranks_.emplace_back();
      made.rank = rank;
      for (std::int32_t channel = 0; channel < channels; ++channel) {
        made.channels.push_back(world_->communicator(rank, channel));
        made.streams.push_back(world_->stream());
      }
    }
  }

  /// Runs `work` on a thread for each rank, then waits for its streams. Ranks for which
  /// `takes_part` is false stay away.
  void run(const std::function<void(Rank&)>& work,
           const std::function<bool(std::int32_t)>& takes_part = nullptr) {
    std::vector<std::thread> threads;
    for (Rank& rank : ranks_) {
      if (takes_part && !takes_part(rank.rank)) continue;
      threads.emplace_back([this, &rank, &work] {
        world_->enter(rank.rank);
        work(rank);
        rank.settle();
        world_->leave(rank.rank);
      });
    }
    for (auto& thread : threads) thread.join();
  }

  [[nodiscard]] Rank& operator[](std::int32_t rank) {
    return ranks_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const Topology& topology() const { return topology_; }

  void expect_no_error() {
    for (Rank& rank : ranks_) {
      for (const auto& channel : rank.channels) {
        const Status status = channel->status();
        EXPECT_TRUE(status) << to_string(status.error());
      }
    }
  }

 private:
  Topology topology_;
  std::unique_ptr<World> world_;
  std::vector<Rank> ranks_;
};

class CommunicatorConformance : public ::testing::TestWithParam<Implementation> {};

[[nodiscard]] inline std::string name_of_implementation(
    const ::testing::TestParamInfo<Implementation>& implementation) {
  return implementation.param.name;
}

}  // namespace shardscope::engine::conformance
