#pragma once
// Lets many ranks run one after another on one device: whoever holds the baton runs.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "engine/comm/abort_flag.hpp"
#include "engine/comm/waiting.hpp"

namespace shardscope::engine {

/// Threads of the ranks meet here. At every wait the baton goes to the lowest rank that can go on,
/// so between two collectives the ranks run in ascending order. When none can and none is still to
/// come, they wait for each other in a circle: the abort is raised at once and tells where each
/// stands. After an abort nobody waits for the baton any more.
class Baton {
 public:
  Baton(std::int32_t ranks, std::chrono::nanoseconds deadline, AbortFlag& abort);

  /// The rank's thread starts to work: returns when it holds the baton.
  void enter(std::int32_t rank);
  /// The rank's thread has ended its work. Once all have left, all are expected again.
  void leave(std::int32_t rank);

  /// Hands the baton on until the progress has reached the target and it is this rank's turn.
  /// Expired when for the deadline's time nobody could go on because a rank has not entered.
  [[nodiscard]] Waited wait(std::int32_t rank, const Progress& progress, std::uint64_t target,
                            const Call& call);

  /// Call after the abort was raised.
  void wake_all();

  [[nodiscard]] std::int64_t waited_ns(std::int32_t rank) const {
    return places_[static_cast<std::size_t>(rank)].waited_ns.load(std::memory_order_relaxed);
  }

 private:
  enum class State : std::uint8_t { expected, ready, running, blocked, gone };

  struct Place {
    State state = State::expected;
    const Progress* progress = nullptr;
    std::uint64_t target = 0;
    Call call;
    std::condition_variable turn;
    std::atomic<std::int64_t> waited_ns{0};
  };

  static constexpr std::int32_t kNobody = -1;

  // All with the mutex held.
  [[nodiscard]] bool can_go_on(const Place& place) const;
  void hand_on();
  void report_circle();
  void notify_all();
  /// False when the deadline passed with the baton free.
  bool await_turn(std::int32_t rank, std::unique_lock<std::mutex>& lock);

  std::int32_t ranks_;
  std::chrono::nanoseconds deadline_;
  AbortFlag& abort_;
  std::mutex mutex_;
  std::int32_t holder_ = kNobody;
  Clock::time_point free_since_;
  std::unique_ptr<Place[]> places_;
};

}  // namespace shardscope::engine
