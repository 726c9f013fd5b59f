#pragma once
// What happens around the engine, in order, for its one thread.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "engine/service/message.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

/// A frame that is no message.
struct Refused {
  std::int64_t id = 0;
  Error error;
};

/// The other side is gone.
struct PeerClosed {
  std::optional<Error> error;
};

struct EngineEvent {
  std::int64_t from = 0;  ///< a job's id; 0: the desktop
  std::variant<service::Message, Refused, PeerClosed> what;
};

/// Bounded: pushing waits, so that a flood of messages waits in its pipe.
class EventQueue {
 public:
  /// Dropped where the queue was shut.
  void push(EngineEvent event) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return shut_ || events_.size() < kMost; });
    if (shut_) return;
    events_.push_back(std::move(event));
    changed_.notify_all();
  }

  /// The next event; empty after `wait`.
  [[nodiscard]] std::optional<EngineEvent> pop(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, wait, [&] { return !events_.empty(); })) return std::nullopt;
    EngineEvent event = std::move(events_.front());
    events_.pop_front();
    changed_.notify_all();
    return event;
  }

  /// Lets every pusher go.
  void shut() {
    const std::lock_guard lock(mutex_);
    shut_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kMost = 256;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EngineEvent> events_;
  bool shut_ = false;
};

}  // namespace shardscope::app
