#pragma once
// One rank's part in one collective (see mailbox.hpp): the protocol that all operations share.

#include <cstdint>
#include <string>

#include "engine/comm/mailbox.hpp"
#include "engine/comm/rendezvous_state.hpp"

namespace shardscope::engine {

/// A rank in a mailbox and how far it has come there.
struct Place {
  Mailbox* mailbox = nullptr;
  std::int32_t me = 0;  ///< peer number
  std::uint64_t calls = 0;
  std::uint64_t takes = 0;       ///< calls in which the peers took from this rank's buffers
  std::uint64_t reductions = 0;  ///< calls of all_reduce
};

/// Every step returns false once the run is aborted; it raises the abort itself when a peer does
/// not come in time or brings something that does not fit. The destructor ends the round; after an
/// abort it first waits until no peer reads this rank's buffers any more.
class Round {
 public:
  Round(RendezvousState& state, Place& place, std::int32_t rank);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  /// Lays the offer. Its call number and time are filled in here.
  bool lay(Offer offer);
  /// Waits for the offers of all ranks.
  bool await_offers();
  /// Says that this rank's chunk is reduced and waits for all others'.
  bool await_reduced();
  /// Says that this rank needs nothing more, waits until the peers need nothing more of it and
  /// until the wire has carried everything from and to this rank.
  bool await_taken();

  /// True once the peer's offer can be read.
  [[nodiscard]] bool laid(std::int32_t peer) const;
  [[nodiscard]] const Offer& offer(std::int32_t peer) const;
  [[nodiscard]] const Offer& mine() const { return offer(place_.me); }
  /// When the peer's chunk was reduced.
  [[nodiscard]] std::int64_t reduced_ns(std::int32_t peer) const {
    return seat(peer).reduced_ns[slot()].load(std::memory_order_relaxed);
  }
  /// Rank of a peer.
  [[nodiscard]] std::int32_t rank_of(std::int32_t peer) const {
    return place_.mailbox->members[static_cast<std::size_t>(peer)];
  }
  /// Compares operation, count and type of the peer's offer with this rank's.
  bool fits(std::int32_t peer);
  /// Raises the abort because this rank and a peer do not agree.
  void mismatch(const std::string& what);

  /// What the peer's offer points at may be read between a successful hold and release.
  bool hold(std::int32_t peer);
  void release(std::int32_t peer);
  /// Copies from a held peer's buffer; stops early after an abort.
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) const;
  /// This rank needs nothing more of the peer.
  void taken(std::int32_t peer) { seat(peer).taken.advance(); }

  /// Puts bytes from the peer to this rank on the wire, started when both were ready.
  void carry(std::int32_t peer, std::int64_t bytes, std::int64_t ready_ns);
  /// Sleeps until the wire has carried all that this rank was to receive so far.
  bool await_wire(std::int64_t until_ns);
  [[nodiscard]] std::int64_t receiving_until_ns() const { return receiving_until_ns_; }

  [[nodiscard]] Seat& seat(std::int32_t peer) const { return place_.mailbox->seat(peer); }
  [[nodiscard]] std::size_t slot() const { return place_.calls % kRounds; }
  [[nodiscard]] CommTimes times() const;

 private:
  enum class Phase : std::uint8_t { offers, reduced, taken };
  bool await(Phase phase, Progress& progress, std::uint64_t target);
  /// Raises the abort with the names of those who have not come; false if all have meanwhile.
  bool report_late(Phase phase);
  [[nodiscard]] bool is_late(Phase phase, std::int32_t peer) const;

  RendezvousState& state_;
  Place& place_;
  std::int32_t rank_;
  std::int64_t began_ns_;
  std::int64_t waited_ns_ = 0;
  std::int64_t wire_ns_ = 0;
  std::int64_t receiving_until_ns_ = 0;
  bool laid_ = false;
};

}  // namespace shardscope::engine
