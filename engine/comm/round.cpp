#include "engine/comm/round.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace shardscope::engine {
namespace {

/// Bytes copied between two looks for an abort.
constexpr std::int64_t kCopyPiece = std::int64_t{4} << 20;

constexpr std::chrono::microseconds kReaderCheck{50};

}  // namespace

Round::Round(RendezvousState& state, Place& place, std::int32_t rank)
    : state_(state), place_(place), rank_(rank), began_ns_(now_ns()) {}

Round::~Round() {
  if (!laid_) return;
  if (state_.abort.raised()) {
    const auto& readers = seat(place_.me).readers;
    while (readers.load(std::memory_order_seq_cst) != 0) std::this_thread::sleep_for(kReaderCheck);
  }
  ++place_.calls;
}

bool Round::lay(Offer offer) {
  if (state_.abort.raised()) return false;
  Seat& own = seat(place_.me);
  offer.call.number = place_.calls;
  offer.posted_ns = now_ns();
  own.offers[slot()] = offer;
  own.wire_until_ns[slot()].store(0, std::memory_order_relaxed);
  own.reduced_ns[slot()].store(0, std::memory_order_relaxed);
  own.posted.store(place_.calls + 1, std::memory_order_release);
  laid_ = true;
  place_.mailbox->arrived.advance();
  return true;
}

bool Round::laid(std::int32_t peer) const {
  return seat(peer).posted.load(std::memory_order_acquire) > place_.calls;
}

const Offer& Round::offer(std::int32_t peer) const {
  return seat(peer).offers[slot()];
}

bool Round::await_offers() {
  const auto ranks = static_cast<std::uint64_t>(place_.mailbox->size());
  return await(Phase::offers, place_.mailbox->arrived, ranks * (place_.calls + 1));
}

bool Round::await_reduced() {
  const auto ranks = static_cast<std::uint64_t>(place_.mailbox->size());
  seat(place_.me).reduced_ns[slot()].store(now_ns(), std::memory_order_relaxed);
  place_.mailbox->reduced.advance();
  ++place_.reductions;
  return await(Phase::reduced, place_.mailbox->reduced, ranks * place_.reductions);
}

bool Round::await_taken() {
  Seat& own = seat(place_.me);
  own.finished.store(place_.calls + 1, std::memory_order_release);
  const auto peers = static_cast<std::uint64_t>(place_.mailbox->size() - 1);
  ++place_.takes;
  if (!await(Phase::taken, own.taken, peers * place_.takes)) return false;
  return await_wire(
      std::max(receiving_until_ns_, own.wire_until_ns[slot()].load(std::memory_order_relaxed)));
}

bool Round::await(Phase phase, Progress& progress, std::uint64_t target) {
  // Also when there is nothing to wait for: on loopback every wait gives the lower ranks their
  // turn.
  Waited result = Waited::expired;
  do {
    const std::int64_t start = now_ns();
    result = state_.waiting->wait(rank_, progress, target, mine().call);
    waited_ns_ += now_ns() - start;
    if (result == Waited::expired && report_late(phase)) return false;
  } while (result == Waited::expired);
  return result == Waited::reached && !state_.abort.raised();
}

bool Round::is_late(Phase phase, std::int32_t peer) const {
  switch (phase) {
    case Phase::offers:
      return !laid(peer);
    case Phase::reduced:
      return seat(peer).reduced_ns[slot()].load(std::memory_order_relaxed) == 0;
    case Phase::taken:
      return seat(peer).finished.load(std::memory_order_acquire) <= place_.calls;
  }
  return false;
}

bool Round::report_late(Phase phase) {
  std::string late;
  for (std::int32_t peer = 0; peer < place_.mailbox->size(); ++peer) {
    if (peer == place_.me || !is_late(phase, peer)) continue;
    late += fmt::format("{}{}", late.empty() ? "rank " : ", rank ", rank_of(peer));
  }
  if (late.empty()) return false;
  const double seconds = std::chrono::duration<double>(state_.options.deadline).count();
  state_.abort_run(
      {ErrorKind::runtime,
       fmt::format("{} did not {} {} within {} s", late,
                   phase == Phase::offers ? "reach" : "finish", to_string(mine().call), seconds),
       fmt::format("rank {}", rank_),
       "every rank of the group to make the same calls in the same order",
       "Look for what held that rank up"});
  return true;
}

bool Round::fits(std::int32_t peer) {
  const Offer& own = mine();
  const Offer& other = offer(peer);
  const auto name = [&](const Offer& offer) {
    std::string text = to_string(offer.call);
    if (offer.call.operation == Operation::exchange_counts) {
      text += fmt::format(" with {} counts a peer", offer.count);
    } else if (offer.call.operation == Operation::all_reduce) {
      text += fmt::format(" of {} {} elements", offer.count, to_string(offer.dtype));
    }
    return text;
  };
  const bool counted = own.call.operation == Operation::exchange_counts ||
                       own.call.operation == Operation::all_reduce;
  if (own.call.operation == other.call.operation &&
      (!counted || (own.count == other.count && own.dtype == other.dtype))) {
    return true;
  }
  mismatch(fmt::format("rank {} calls {} where rank {} calls {}", rank_of(peer), name(other), rank_,
                       name(own)));
  return false;
}

void Round::mismatch(const std::string& what) {
  state_.abort_run({ErrorKind::runtime, what, fmt::format("rank {}", rank_),
                    "both ranks to name the same operation and sizes",
                    "The layout, schedule or counts of the two ranks differ"});
}

bool Round::hold(std::int32_t peer) {
  // Sequentially consistent with the destructor: either the leaving rank sees this reader, or this
  // reader sees the abort.
  seat(peer).readers.fetch_add(1, std::memory_order_seq_cst);
  if (!state_.abort.raised()) return true;
  release(peer);
  return false;
}

void Round::release(std::int32_t peer) {
  seat(peer).readers.fetch_sub(1, std::memory_order_release);
}

void Round::copy(std::byte* to, const std::byte* from, std::int64_t bytes) const {
  if (Mover* mover = state_.options.mover) {
    if (bytes == 0 || state_.abort.raised()) return;
    if (Status status = mover->copy(to, from, bytes); !status) state_.abort_run(status.error());
    return;
  }
  for (std::int64_t done = 0; done < bytes && !state_.abort.raised(); done += kCopyPiece) {
    std::memcpy(to + done, from + done,
                static_cast<std::size_t>(std::min(kCopyPiece, bytes - done)));
  }
}

void Round::carry(std::int32_t peer, std::int64_t bytes, std::int64_t ready_ns) {
  const std::int64_t arrived = state_.wires.carry(rank_of(peer), rank_, bytes, ready_ns);
  if (arrived == 0) return;
  receiving_until_ns_ = std::max(receiving_until_ns_, arrived);
  raise_to(seat(peer).wire_until_ns[slot()], arrived);
}

bool Round::await_wire(std::int64_t until_ns) {
  const std::int64_t start = now_ns();
  if (until_ns > start) {
    sleep_until_ns(until_ns, state_.abort);
    wire_ns_ += now_ns() - start;
  }
  return !state_.abort.raised();
}

CommTimes Round::times() const {
  return {waited_ns_, now_ns() - began_ns_ - waited_ns_ - wire_ns_, wire_ns_};
}

}  // namespace shardscope::engine
