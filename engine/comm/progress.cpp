#include "engine/comm/progress.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

namespace shardscope::engine {
namespace {

constexpr std::int64_t kLeastSpinNs = 500;
constexpr int kPausesBetweenClockReads = 16;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// Sleeps while the word has the value, until the time on the steady clock (null: for ever). False
/// when that has passed.
bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, const timespec* until) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
                              until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return !(result == -1 && errno == ETIMEDOUT);
}

timespec timespec_of(Clock::time_point time) {
  const std::int64_t ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  return {ns / kNsPerSecond, ns % kNsPerSecond};
}

}  // namespace

void Progress::advance(std::uint64_t by) {
  // Sequentially consistent here and in sleep(): either the sleeper sees the new value or this
  // thread sees the sleeper.
  const std::uint64_t now = value_.fetch_add(by, std::memory_order_seq_cst) + by;
  if (now >= wake_at_.load(std::memory_order_seq_cst)) wake_all();
}

void Progress::wake_all() {
  // In this order: a target announced before the first store and lost by it belongs to a sleeper
  // that has read `wakes_` before the second, so it does not fall asleep.
  wake_at_.store(kNobody, std::memory_order_seq_cst);
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &wakes_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr, 0);
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

bool Progress::sleep(std::uint64_t target, const Clock::time_point* until) {
  const std::uint32_t wakes = wakes_.load(std::memory_order_seq_cst);
  std::uint64_t earliest = wake_at_.load(std::memory_order_seq_cst);
  while (target < earliest &&
         !wake_at_.compare_exchange_weak(earliest, target, std::memory_order_seq_cst)) {
  }
  if (value_.load(std::memory_order_seq_cst) >= target || interrupted_.load()) return true;
  if (until == nullptr) return futex_wait(wakes_, wakes, nullptr);
  const timespec time = timespec_of(*until);
  return futex_wait(wakes_, wakes, &time);
}

void Progress::wait(std::uint64_t target) {
  if (spin(target)) return;
  while (!reached(target)) sleep(target, nullptr);
}

bool Progress::wait_until(std::uint64_t target, Clock::time_point until) {
  if (spin(target)) return true;
  while (!reached(target)) {
    if (interrupted_.load() || !sleep(target, &until)) return reached(target);
  }
  return true;
}

void Progress::interrupt() {
  interrupted_.store(true);
  wake_all();
}

}  // namespace shardscope::engine
