#pragma once
// A counter that only grows and that threads can wait on.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace shardscope::engine {

using Clock = std::chrono::steady_clock;

/// Nanoseconds of the clock every wait and wire uses.
[[nodiscard]] inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

/// Longest time a wait may spin before it sleeps.
inline constexpr std::int64_t kSpinNs = 20'000;

/// Tells the core that this is a spin loop.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Monotonic counter. Waits spin for at most kSpinNs (less where spinning has not paid off lately,
/// as with more ranks than cores), then sleep; a sleeper is woken only when its target is reached.
/// Everything written before advance() is visible to a thread that saw the new value. Never
/// allocates. Must outlive every advance() and wait on it.
class Progress {
 public:
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_acquire); }
  [[nodiscard]] bool reached(std::uint64_t target) const { return value() >= target; }

  void advance(std::uint64_t by = 1);

  void wait(std::uint64_t target);
  /// False when `until` passed or interrupt() came first.
  [[nodiscard]] bool wait_until(std::uint64_t target, Clock::time_point until);
  /// Ends every wait_until() from now on.
  void interrupt();

 private:
  static constexpr std::uint64_t kNobody = std::numeric_limits<std::uint64_t>::max();

  bool spin(std::uint64_t target);
  /// Sleeps until the target may have been reached; false when `until` (null: never) has passed.
  bool sleep(std::uint64_t target, const Clock::time_point* until);
  void wake_all();

  std::atomic<std::uint64_t> value_{0};
  std::atomic<std::uint64_t> wake_at_{kNobody};  ///< smallest target of the sleepers
  std::atomic<std::uint32_t> wakes_{0};          ///< the word sleepers sleep on
  std::atomic<bool> interrupted_{false};
  std::atomic<std::int64_t> spin_budget_ns_{kSpinNs};
};

}  // namespace shardscope::engine
