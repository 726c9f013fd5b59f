#pragma once
// Random uneven all-to-all exchanges whose every byte is known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "engine/comm/communicator.hpp"

namespace shardscope::engine::conformance {

/// Byte `at` of the message from one rank to another in one exchange.
[[nodiscard]] inline std::byte message_byte(std::uint64_t seed, std::int32_t from, std::int32_t to,
                                            std::int64_t at) {
  const std::uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15u +
                              static_cast<std::uint64_t>(from) * 0xbf58476d1ce4e5b9u +
                              static_cast<std::uint64_t>(to) * 0x94d049bb133111ebu +
                              static_cast<std::uint64_t>(at) * 0xd6e8feb86659fd93u;
  return static_cast<std::byte>(mixed >> 56);
}

/// Size of the message from one rank to another: the same on both sides, often zero.
[[nodiscard]] inline std::int64_t message_bytes(std::uint64_t seed, std::int32_t from,
                                                std::int32_t to, std::int64_t largest) {
  std::mt19937_64 random(seed * 1'000'003 + static_cast<std::uint64_t>(from) * 1'009 +
                         static_cast<std::uint64_t>(to));
  if (random() % 4 == 0) return 0;
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest + 1));
}

inline constexpr std::byte kUntouched{0xA5};
inline constexpr std::int64_t kGap = 5;

/// One rank's side of an exchange: messages in a shuffled order in the buffers, with gaps between.
struct ExchangePlan {
  std::vector<std::int32_t> members;
  std::int32_t rank = 0;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> send_offsets, send_bytes, receive_offsets, receive_bytes;
  std::vector<std::byte> send, receive;

  ExchangePlan(std::vector<std::int32_t> group, std::int32_t me, std::uint64_t number,
               std::int64_t largest)
      : members(std::move(group)), rank(me), seed(number) {
    for (const std::int32_t peer : members) {
      send_bytes.push_back(message_bytes(seed, rank, peer, largest));
      receive_bytes.push_back(message_bytes(seed, peer, rank, largest));
    }
    send.resize(place(send_bytes, send_offsets));
    receive.resize(place(receive_bytes, receive_offsets));
    std::fill(receive.begin(), receive.end(), kUntouched);
    for (std::size_t peer = 0; peer < members.size(); ++peer) {
      for (std::int64_t at = 0; at < send_bytes[peer]; ++at) {
        send[static_cast<std::size_t>(send_offsets[peer] + at)] =
            message_byte(seed, rank, members[peer], at);
      }
    }
  }

  [[nodiscard]] AllToAllV call() {
    return {send.data(),    send_offsets.data(),    send_bytes.data(),
            receive.data(), receive_offsets.data(), receive_bytes.data()};
  }

  /// Every byte that should have come has, and nothing else has changed.
  void expect_received() const {
    std::vector<std::byte> expected(receive.size(), kUntouched);
    for (std::size_t peer = 0; peer < members.size(); ++peer) {
      for (std::int64_t at = 0; at < receive_bytes[peer]; ++at) {
        expected[static_cast<std::size_t>(receive_offsets[peer] + at)] =
            message_byte(seed, members[peer], rank, at);
      }
    }
    EXPECT_TRUE(receive == expected) << "rank " << rank << ", exchange " << seed;
  }

 private:
  std::size_t place(const std::vector<std::int64_t>& bytes, std::vector<std::int64_t>& offsets) {
    std::vector<std::size_t> order(bytes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank) * 7'919 + offsets.size());
    std::shuffle(order.begin(), order.end(), random);
    offsets.resize(bytes.size());
    std::int64_t end = kGap;
    for (const std::size_t peer : order) {
      offsets[peer] = end;
      end += bytes[peer] + kGap;
    }
    return static_cast<std::size_t>(end);
  }
};

}  // namespace shardscope::engine::conformance
