#pragma once
// Says that a run is over, and why.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "layout/result.hpp"

namespace shardscope::engine {

/// Raised at most once; the first reason stays. Any thread.
class AbortFlag {
 public:
  [[nodiscard]] bool raised() const { return raised_.load(std::memory_order_seq_cst); }

  void raise(const Error& reason) {
    {
      const std::lock_guard lock(mutex_);
      if (raised_.load(std::memory_order_relaxed)) return;
      reason_ = reason;
      raised_.store(true, std::memory_order_seq_cst);
    }
    came_.notify_all();
  }

  /// Sleeps until then or until the flag is raised.
  void sleep_until(std::chrono::steady_clock::time_point until) const {
    std::unique_lock lock(mutex_);
    came_.wait_until(lock, until, [this] { return raised(); });
  }

  [[nodiscard]] Status status() const {
    if (!raised()) return {};
    const std::lock_guard lock(mutex_);
    return fail(reason_);
  }

 private:
  std::atomic<bool> raised_{false};
  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  Error reason_;
};

}  // namespace shardscope::engine
