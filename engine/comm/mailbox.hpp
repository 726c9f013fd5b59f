#pragma once
// Where the ranks of one group meet on one channel. Every rank has a seat; a collective is a round:
// each rank lays an offer (its buffers and sizes) on its seat, waits until all have, takes what it
// needs straight from the others' buffers, and leaves when all have taken from its own.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/call.hpp"
#include "engine/comm/progress.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// What a rank brings to a round. Which fields count depends on the operation.
struct Offer {
  Call call;
  std::int64_t posted_ns = 0;
  std::byte* data = nullptr;              ///< send buffer, array to reduce, or published buffer
  const std::int64_t* offsets = nullptr;  ///< alltoall_v: of the send buffer
  const std::int64_t* bytes = nullptr;    ///< alltoall_v: to each peer
  std::int64_t count = 0;  ///< all_reduce: elements; exchange_counts: slots; publish: bytes
  DType dtype = DType::fp32;
};

/// Rounds whose offers may be alive at once: a rank can be one round ahead of a peer, not two,
/// since every round waits for all offers.
inline constexpr std::size_t kRounds = 2;

inline constexpr std::size_t kSeatAlignment = 128;  ///< two cache lines: keeps prefetch pairs apart

struct alignas(kSeatAlignment) Seat {
  std::array<Offer, kRounds> offers;
  /// When the wire has carried the last byte from or to this rank in the round; 0: nothing to
  /// carry.
  std::array<std::atomic<std::int64_t>, kRounds> wire_until_ns{};
  std::array<std::atomic<std::int64_t>, kRounds> reduced_ns{};  ///< all_reduce: own chunk was ready
  /// PeerWindow: when the wire has carried the writes from or to this rank, by parity of the fence.
  std::array<std::atomic<std::int64_t>, kRounds> written_until_ns{};
  std::atomic<std::uint64_t> posted{0};    ///< offers laid
  std::atomic<std::uint64_t> finished{0};  ///< rounds in which this rank has taken all it needs
  std::atomic<std::int32_t> readers{0};    ///< peers copying from this rank's buffers now
  Progress taken;                          ///< peers that have taken all they need, over all rounds
};

struct Mailbox {
  explicit Mailbox(const std::vector<std::int32_t>& ranks)
      : members(ranks), seats(std::make_unique<Seat[]>(ranks.size())) {}

  [[nodiscard]] Seat& seat(std::int32_t peer) { return seats[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(members.size()); }

  std::vector<std::int32_t> members;  ///< ascending
  std::unique_ptr<Seat[]> seats;
  alignas(kSeatAlignment) Progress arrived;  ///< offers of all ranks
  alignas(kSeatAlignment) Progress reduced;  ///< chunks of all_reduce ready, all ranks
};

}  // namespace shardscope::engine
