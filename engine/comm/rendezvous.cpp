#include "engine/comm/rendezvous.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "engine/comm/reduce.hpp"
#include "engine/comm/rendezvous_window.hpp"

namespace shardscope::engine {
namespace {

/// Elements reduced between two looks for an abort.
constexpr std::int64_t kReducePiece = std::int64_t{1} << 20;

}  // namespace

RendezvousCommunicator::RendezvousCommunicator(std::shared_ptr<RendezvousState> state,
                                               std::int32_t rank, std::int32_t channel)
    : state_(std::move(state)),
      rank_(rank),
      channel_(channel),
      pulled_(static_cast<std::size_t>(state_->groups.ranks())),
      parts_(static_cast<std::size_t>(state_->groups.ranks())) {
  for (const Group group : {Group::flat, Group::domain, Group::rail}) {
    place(group).mailbox = &state_->mailbox(channel, state_->groups.instance(group, rank));
    place(group).me = state_->groups.peer_number(group, rank);
  }
  window_ = std::make_unique<RendezvousWindow>(*this);
}

RendezvousCommunicator::~RendezvousCommunicator() = default;

PeerWindow* RendezvousCommunicator::peer_window() {
  return window_.get();
}

Call RendezvousCommunicator::call_of(Operation operation, Group group) const {
  return {operation, group, channel_, 0, label_};
}

void RendezvousCommunicator::count_sent(std::int32_t to_rank, std::int64_t bytes) {
  switch (state_->topology.link(rank_, to_rank)) {
    case LinkClass::self:
      return;
    case LinkClass::intra:
      sent_intra_.fetch_add(bytes, std::memory_order_relaxed);
      return;
    case LinkClass::inter:
      sent_inter_.fetch_add(bytes, std::memory_order_relaxed);
      return;
  }
}

void RendezvousCommunicator::add_times(const Round& round) {
  const CommTimes times = round.times();
  waited_ns_.fetch_add(times.waited_ns, std::memory_order_relaxed);
  copied_ns_.fetch_add(times.copied_ns, std::memory_order_relaxed);
  wire_ns_.fetch_add(times.wire_ns, std::memory_order_relaxed);
}

LinkBytes RendezvousCommunicator::sent() const {
  return {sent_intra_.load(std::memory_order_relaxed), sent_inter_.load(std::memory_order_relaxed)};
}

CommTimes RendezvousCommunicator::times() const {
  return {waited_ns_.load(std::memory_order_relaxed), copied_ns_.load(std::memory_order_relaxed),
          wire_ns_.load(std::memory_order_relaxed)};
}

CountsHandle RendezvousCommunicator::exchange_counts(Stream& stream, Group group,
                                                     const std::int64_t* send,
                                                     std::int64_t* receive, std::int32_t slots) {
  const Call call = call_of(Operation::exchange_counts, group);
  stream.enqueue([this, call, send, receive, slots] { run_counts(call, send, receive, slots); });
  counts_stream_ = &stream;
  return {stream.record()};
}

Status RendezvousCommunicator::wait(const CountsHandle& handle) {
  if (counts_stream_ != nullptr) counts_stream_->synchronize(handle.done);
  return status();
}

void RendezvousCommunicator::run_counts(const Call& call, const std::int64_t* send,
                                        std::int64_t* receive, std::int32_t slots) {
  Place& here = place(call.group);
  Round round(*state_, here, rank_);
  Offer offer;
  offer.call = call;
  offer.data = reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(send));
  offer.count = slots;
  const std::int64_t bytes = slots * static_cast<std::int64_t>(sizeof(std::int64_t));
  if (round.lay(offer) && round.await_offers()) {
    for (std::int32_t peer = 0; peer < here.mailbox->size(); ++peer) {
      if (!round.fits(peer) || !round.hold(peer)) break;
      const Offer& theirs = round.offer(peer);
      round.copy(reinterpret_cast<std::byte*>(receive) + peer * bytes,
                 theirs.data + here.me * bytes, bytes);
      round.release(peer);
      if (peer == here.me) continue;
      round.carry(peer, bytes, std::max(theirs.posted_ns, round.mine().posted_ns));
      round.taken(peer);
      count_sent(round.rank_of(peer), bytes);
    }
    round.await_taken();
  }
  add_times(round);
}

void RendezvousCommunicator::alltoall_v(Stream& stream, Group group, const AllToAllV& buffers) {
  const Call call = call_of(Operation::alltoall_v, group);
  stream.enqueue([this, call, buffers] { run_alltoall(call, buffers); });
}

void RendezvousCommunicator::run_alltoall(const Call& call, const AllToAllV& buffers) {
  Place& here = place(call.group);
  const std::int32_t peers = here.mailbox->size();
  Round round(*state_, here, rank_);
  Offer offer;
  offer.call = call;
  offer.data = const_cast<std::byte*>(buffers.send);
  offer.offsets = buffers.send_offsets;
  offer.bytes = buffers.send_bytes;
  // What is there already is taken before the wait for the rest: one sleep a call, and late ranks
  // find little left to do. Starting behind oneself spreads the readers over the senders.
  bool going = round.lay(offer);
  std::fill_n(pulled_.begin(), peers, std::uint8_t{0});
  for (const bool all_there : {false, true}) {
    if (going && all_there) going = round.await_offers();
    for (std::int32_t step = 0; going && step < peers; ++step) {
      const std::int32_t peer = (here.me + step) % peers;
      auto& pulled = pulled_[static_cast<std::size_t>(peer)];
      if (pulled != 0 || !(all_there || round.laid(peer))) continue;
      going = pull(round, buffers, peer);
      pulled = 1;
    }
  }
  if (going) round.await_taken();
  add_times(round);
}

bool RendezvousCommunicator::pull(Round& round, const AllToAllV& buffers, std::int32_t peer) {
  if (!round.fits(peer) || !round.hold(peer)) return false;
  const Offer& theirs = round.offer(peer);
  const std::int32_t me = place(theirs.call.group).me;
  const std::int64_t sent = theirs.bytes[me];
  const std::int64_t expected = buffers.receive_bytes[peer];
  if (sent == expected) {
    round.copy(buffers.receive + buffers.receive_offsets[peer], theirs.data + theirs.offsets[me],
               sent);
  }
  round.release(peer);
  if (sent != expected) {
    round.mismatch(fmt::format("rank {} sends {} bytes to rank {}, which expects {}, in {}",
                               round.rank_of(peer), sent, rank_, expected,
                               to_string(round.mine().call)));
    return false;
  }
  if (peer != me) {
    round.carry(peer, sent, std::max(theirs.posted_ns, round.mine().posted_ns));
    round.taken(peer);
    count_sent(round.rank_of(peer), buffers.send_bytes[peer]);
  }
  return true;
}

void RendezvousCommunicator::all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                                        DType dtype) {
  const Call call = call_of(Operation::all_reduce, group);
  stream.enqueue([this, call, data, count, dtype] {
    run_all_reduce(call, static_cast<std::byte*>(data), count, dtype);
  });
}

void RendezvousCommunicator::run_all_reduce(const Call& call, std::byte* data, std::int64_t count,
                                            DType dtype) {
  Place& here = place(call.group);
  const std::int32_t peers = here.mailbox->size();
  const Chunk own = chunk_of(count, here.me, peers);
  Round round(*state_, here, rank_);
  Offer offer;
  offer.call = call;
  offer.data = data;
  offer.count = count;
  offer.dtype = dtype;
  const bool done = round.lay(offer) && round.await_offers() &&
                    reduce_own_chunk(round, data, own, dtype) &&
                    round.await_wire(round.receiving_until_ns()) && round.await_reduced() &&
                    gather_chunks(round, data, count, dtype) && round.await_taken();
  if (done) {
    for (std::int32_t peer = 0; peer < peers; ++peer) {
      const std::int64_t elements = chunk_of(count, peer, peers).size() + own.size();
      count_sent(round.rank_of(peer), elements * bytes_of(dtype));
    }
  }
  add_times(round);
}

bool RendezvousCommunicator::reduce_own_chunk(Round& round, std::byte* data, const Chunk& chunk,
                                              DType dtype) {
  const std::int32_t peers = place(round.mine().call.group).mailbox->size();
  std::int32_t held = 0;
  bool going = true;
  while (going && held < peers) {
    going = round.fits(held) && round.hold(held);
    if (going) ++held;
  }
  for (std::int64_t begin = chunk.begin; going && begin < chunk.end; begin += kReducePiece) {
    const std::int64_t elements = std::min(kReducePiece, chunk.end - begin);
    for (std::int32_t peer = 0; peer < peers; ++peer) {
      parts_[static_cast<std::size_t>(peer)] = round.offer(peer).data + begin * bytes_of(dtype);
    }
    std::byte* const out = data + begin * bytes_of(dtype);
    if (Mover* mover = state_->options.mover) {
      const Status status = mover->sum(out, parts_.data(), peers, elements, dtype);
      if (!status) state_->abort_run(status.error());
    } else {
      sum_parts(out, parts_.data(), peers, elements, dtype);
    }
    going = !state_->abort.raised();
  }
  for (std::int32_t peer = 0; peer < held; ++peer) round.release(peer);
  const std::int64_t bytes = chunk.size() * bytes_of(dtype);
  for (std::int32_t peer = 0; going && peer < peers; ++peer) {
    round.carry(peer, bytes, std::max(round.offer(peer).posted_ns, round.mine().posted_ns));
  }
  return going;
}

bool RendezvousCommunicator::gather_chunks(Round& round, std::byte* data, std::int64_t count,
                                           DType dtype) {
  const Place& here = place(round.mine().call.group);
  const std::int32_t peers = here.mailbox->size();
  for (std::int32_t step = 1; step < peers; ++step) {
    const std::int32_t peer = (here.me + step) % peers;
    const Chunk chunk = chunk_of(count, peer, peers);
    const std::int64_t offset = chunk.begin * bytes_of(dtype);
    const std::int64_t bytes = chunk.size() * bytes_of(dtype);
    if (!round.hold(peer)) return false;
    round.copy(data + offset, round.offer(peer).data + offset, bytes);
    round.release(peer);
    round.carry(peer, bytes, round.reduced_ns(peer));
    round.taken(peer);
  }
  return true;
}

void RendezvousCommunicator::barrier(Stream& stream, Group group) {
  const Call call = call_of(Operation::barrier, group);
  stream.enqueue([this, call] { run_barrier(call); });
}

void RendezvousCommunicator::run_barrier(const Call& call) {
  Place& here = place(call.group);
  Round round(*state_, here, rank_);
  Offer offer;
  offer.call = call;
  if (round.lay(offer) && round.await_offers()) {
    for (std::int32_t peer = 0; peer < here.mailbox->size(); ++peer) {
      if (!round.fits(peer)) break;
    }
  }
  add_times(round);
}

}  // namespace shardscope::engine
