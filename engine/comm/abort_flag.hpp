#pragma once
// Says that a run is over, and why.

#include <atomic>
#include <mutex>

#include "layout/result.hpp"

namespace shardscope::engine {

/// Raised at most once; the first reason stays. Any thread.
class AbortFlag {
 public:
  [[nodiscard]] bool raised() const { return raised_.load(std::memory_order_seq_cst); }

  void raise(const Error& reason) {
    const std::lock_guard lock(mutex_);
    if (raised_.load(std::memory_order_relaxed)) return;
    reason_ = reason;
    raised_.store(true, std::memory_order_seq_cst);
  }

  [[nodiscard]] Status status() const {
    if (!raised()) return {};
    const std::lock_guard lock(mutex_);
    return fail(reason_);
  }

 private:
  std::atomic<bool> raised_{false};
  mutable std::mutex mutex_;
  Error reason_;
};

}  // namespace shardscope::engine
