#include "engine/comm/progress.hpp"

#include <algorithm>

namespace shardscope::engine {
namespace {

constexpr std::int64_t kLeastSpinNs = 500;
constexpr int kPausesBetweenClockReads = 16;

}  // namespace

void Progress::advance(std::uint64_t by) {
  // Sequentially consistent, as the stores of announce(): either the sleeper sees the new value or
  // this thread sees the sleeper.
  const std::uint64_t now = value_.fetch_add(by, std::memory_order_seq_cst) + by;
  if (now < wake_at_.load(std::memory_order_seq_cst)) return;
  {
    const std::lock_guard lock(mutex_);
    wake_at_.store(kNobody, std::memory_order_seq_cst);
  }
  changed_.notify_all();
}

bool Progress::spin(std::uint64_t target) {
  if (reached(target)) return true;
  const std::int64_t budget = spin_budget_ns_.load(std::memory_order_relaxed);
  const std::int64_t end = now_ns() + budget;
  do {
    for (int pause = 0; pause < kPausesBetweenClockReads; ++pause) {
      spin_pause();
      if (reached(target)) {
        spin_budget_ns_.store(std::min(kSpinNs, 2 * budget), std::memory_order_relaxed);
        return true;
      }
    }
  } while (now_ns() < end);
  spin_budget_ns_.store(std::max(kLeastSpinNs, budget / 2), std::memory_order_relaxed);
  return false;
}

bool Progress::announce(std::uint64_t target) {
  if (target < wake_at_.load(std::memory_order_relaxed)) {
    wake_at_.store(target, std::memory_order_seq_cst);
  }
  return value_.load(std::memory_order_seq_cst) >= target;
}

void Progress::wait(std::uint64_t target) {
  if (spin(target)) return;
  std::unique_lock lock(mutex_);
  while (!announce(target)) changed_.wait(lock);
}

bool Progress::wait_until(std::uint64_t target, Clock::time_point until) {
  if (spin(target)) return true;
  std::unique_lock lock(mutex_);
  while (!announce(target)) {
    if (interrupted_) return false;
    if (changed_.wait_until(lock, until) == std::cv_status::timeout) return announce(target);
  }
  return true;
}

void Progress::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  changed_.notify_all();
}

}  // namespace shardscope::engine
