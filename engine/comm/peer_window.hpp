#pragma once
// Direct writes between the ranks of one fast domain: the one thing that assumes a shared address
// space. Serves the first half of hierarchical RB where the device offers it.

#include <cstdint>

#include "engine/stream.hpp"

namespace shardscope::engine {

/// One rank's view of its domain's buffers. Peers are numbered as in Group::domain. Use: every rank
/// publishes once; then, each time, work on the stream writes into peer(p) at places no other rank
/// writes, wrote() tells how much went to whom, and fence() makes all of it visible to its owners.
/// A second fence() (or any call all of the domain take part in) must stand between the owner's
/// reading and the next writes.
class PeerWindow {
 public:
  virtual ~PeerWindow() = default;

  /// Exchanges the buffers' addresses; enqueued. Buffers stay the owner's and must stay valid until
  /// every rank of the domain has finished, after an abort too. Publishing again replaces them.
  virtual void publish(Stream& stream, std::byte* buffer, std::int64_t bytes) = 0;

  /// The buffers' addresses are there when publish() returns, for lists that are read when they are
  /// enqueued. Else they come with the stream.
  [[nodiscard]] virtual bool publishes_at_once() const { return false; }

  /// The peer's buffer; valid in work enqueued behind publish(). Null after an abort before it.
  [[nodiscard]] virtual std::byte* peer(std::int32_t peer) const = 0;
  [[nodiscard]] virtual std::int64_t peer_bytes(std::int32_t peer) const = 0;

  /// Counts `bytes` written to the peer (as Communicator::sent; nothing for this rank itself) and
  /// charges the wire. Enqueued; the bytes are not written by it.
  virtual void wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) = 0;

  /// Barrier of the domain after which all writes enqueued before it, by any of its ranks, are
  /// visible. `received_bytes`: what the others have written to this rank, for records.
  virtual void fence(Stream& stream, std::int64_t received_bytes) = 0;
};

}  // namespace shardscope::engine
