#include "engine/comm/baton.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "layout/invariant.hpp"

namespace shardscope::engine {

Baton::Baton(std::int32_t ranks, std::chrono::nanoseconds deadline, AbortFlag& abort)
    : ranks_(ranks),
      deadline_(deadline),
      abort_(abort),
      places_(std::make_unique<Place[]>(static_cast<std::size_t>(ranks))) {}

void Baton::enter(std::int32_t rank) {
  const std::int64_t start = now_ns();
  std::unique_lock lock(mutex_);
  Place& place = places_[static_cast<std::size_t>(rank)];
  place.state = State::ready;
  if (holder_ == kNobody) hand_on();
  while (!await_turn(rank, lock)) {
  }
  place.state = State::running;
  place.waited_ns.fetch_add(now_ns() - start, std::memory_order_relaxed);
}

void Baton::leave(std::int32_t rank) {
  const std::unique_lock lock(mutex_);
  places_[static_cast<std::size_t>(rank)].state = State::gone;
  const bool all_gone = std::all_of(places_.get(), places_.get() + ranks_,
                                    [](const Place& place) { return place.state == State::gone; });
  if (all_gone) {
    std::for_each(places_.get(), places_.get() + ranks_,
                  [](Place& place) { place.state = State::expected; });
  }
  hand_on();
}

Waited Baton::wait(std::int32_t rank, const Progress& progress, std::uint64_t target,
                   const Call& call) {
  const std::int64_t start = now_ns();
  std::unique_lock lock(mutex_);
  Place& place = places_[static_cast<std::size_t>(rank)];
  SHARDSCOPE_CHECK(holder_ == rank || abort_.raised(),
                   "on loopback a rank's calls run on its own thread, inside RankTurn");
  place.progress = &progress;
  place.target = target;
  place.call = call;
  place.state = State::blocked;
  hand_on();
  const bool in_time = await_turn(rank, lock);
  if (in_time) place.state = State::running;
  place.waited_ns.fetch_add(now_ns() - start, std::memory_order_relaxed);
  if (abort_.raised()) return Waited::aborted;
  return in_time ? Waited::reached : Waited::expired;
}

bool Baton::can_go_on(const Place& place) const {
  return place.state == State::ready ||
         (place.state == State::blocked && place.progress->reached(place.target));
}

void Baton::hand_on() {
  bool blocked = false;
  bool expected = false;
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    Place& place = places_[static_cast<std::size_t>(rank)];
    if (can_go_on(place)) {
      holder_ = rank;
      place.turn.notify_one();
      return;
    }
    blocked = blocked || place.state == State::blocked;
    expected = expected || place.state == State::expected;
  }
  holder_ = kNobody;
  free_since_ = Clock::now();
  if (blocked && !expected) report_circle();
  notify_all();  // of the abort, or that the deadline runs
}

void Baton::report_circle() {
  std::string where;
  for (std::int32_t rank = 0; rank < ranks_; ++rank) {
    const Place& place = places_[static_cast<std::size_t>(rank)];
    where += fmt::format("{}rank {} {}", where.empty() ? "" : ", ", rank,
                         place.state == State::blocked ? "waits in " + to_string(place.call)
                                                       : std::string("has ended its work"));
  }
  abort_.raise({ErrorKind::runtime, "no rank can go on: " + where, "loopback",
                "every rank of a group to make the same calls in the same order",
                "The layout, schedule or counts of the ranks differ"});
}

void Baton::wake_all() {
  const std::lock_guard lock(mutex_);
  notify_all();
}

void Baton::notify_all() {
  std::for_each(places_.get(), places_.get() + ranks_,
                [](Place& place) { place.turn.notify_one(); });
}

bool Baton::await_turn(std::int32_t rank, std::unique_lock<std::mutex>& lock) {
  Place& place = places_[static_cast<std::size_t>(rank)];
  while (holder_ != rank && !abort_.raised()) {
    if (holder_ != kNobody) {
      place.turn.wait(lock);
      continue;
    }
    if (Clock::now() - free_since_ >= deadline_) return false;
    place.turn.wait_until(lock, free_since_ + deadline_);
  }
  return true;
}

}  // namespace shardscope::engine
