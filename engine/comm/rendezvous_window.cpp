#include "engine/comm/rendezvous_window.hpp"

#include "engine/comm/rendezvous.hpp"

namespace shardscope::engine {

RendezvousWindow::RendezvousWindow(RendezvousCommunicator& communicator)
    : communicator_(communicator),
      buffers_(static_cast<std::size_t>(communicator.group_size(Group::domain))),
      bytes_(buffers_.size()) {}

void RendezvousWindow::publish(Stream& stream, std::byte* buffer, std::int64_t bytes) {
  const Call call = communicator_.call_of(Operation::publish, Group::domain);
  stream.enqueue([this, call, buffer, bytes] {
    Place& here = communicator_.place(Group::domain);
    Round round(*communicator_.state_, here, communicator_.rank_);
    Offer offer;
    offer.call = call;
    offer.data = buffer;
    offer.count = bytes;
    if (round.lay(offer) && round.await_offers()) {
      for (std::int32_t peer = 0; peer < here.mailbox->size(); ++peer) {
        if (!round.fits(peer)) break;
        buffers_[static_cast<std::size_t>(peer)] = round.offer(peer).data;
        bytes_[static_cast<std::size_t>(peer)] = round.offer(peer).count;
      }
    }
    communicator_.add_times(round);
  });
}

void RendezvousWindow::wrote(Stream& stream, std::int32_t peer, std::int64_t bytes) {
  stream.enqueue([this, peer, bytes] {
    const Place& here = communicator_.place(Group::domain);
    const std::int32_t to = here.mailbox->members[static_cast<std::size_t>(peer)];
    communicator_.count_sent(to, bytes);
    const std::int64_t arrives =
        communicator_.state_->wires.carry(communicator_.rank_, to, bytes, now_ns());
    if (arrives == 0) return;
    const std::size_t slot = fences_ % kRounds;
    raise_to(here.mailbox->seat(here.me).written_until_ns[slot], arrives);
    raise_to(here.mailbox->seat(peer).written_until_ns[slot], arrives);
  });
}

void RendezvousWindow::fence(Stream& stream, std::int64_t /*received_bytes*/) {
  const Call call = communicator_.call_of(Operation::fence, Group::domain);
  stream.enqueue([this, call] {
    Place& here = communicator_.place(Group::domain);
    Seat& own = here.mailbox->seat(here.me);
    const std::size_t slot = fences_ % kRounds;
    // The other slot was read at the last fence and is written only behind this one.
    own.written_until_ns[(fences_ + 1) % kRounds].store(0, std::memory_order_relaxed);
    Round round(*communicator_.state_, here, communicator_.rank_);
    Offer offer;
    offer.call = call;
    bool going = round.lay(offer) && round.await_offers();
    for (std::int32_t peer = 0; going && peer < here.mailbox->size(); ++peer) {
      going = round.fits(peer);
    }
    if (going) round.await_wire(own.written_until_ns[slot].load(std::memory_order_relaxed));
    ++fences_;
    communicator_.add_times(round);
  });
}

}  // namespace shardscope::engine
