#pragma once
// Clocks of the recorder, in nanoseconds.

#include <ctime>

#include <cstdint>

namespace shardscope {

namespace detail {
[[nodiscard]] inline std::int64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}
}  // namespace detail

/// Monotonic time, never set back. No system call (vDSO); about 25 ns.
[[nodiscard]] inline std::int64_t steady_ns() {
  return detail::read_clock_ns(CLOCK_MONOTONIC);
}

/// CPU time of the calling thread, waits excluded. A system call; about 200 ns.
[[nodiscard]] inline std::int64_t thread_cpu_ns() {
  return detail::read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Wall clock, ns since 1970 UTC. May step; only for dates.
[[nodiscard]] inline std::int64_t utc_ns() {
  return detail::read_clock_ns(CLOCK_REALTIME);
}

}  // namespace shardscope
