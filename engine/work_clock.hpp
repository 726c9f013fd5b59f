#pragma once
// Time that a run spends on its work: what its observer takes (a pause, a slow terminal) is left
// out.

#include <chrono>

namespace shardscope::engine {

class WorkClock {
 public:
  /// Seconds since construction without those inside outside().
  [[nodiscard]] double seconds() const { return since(start_) - outside_s_; }

  /// Calls `function`; its time does not count. Returns what it returns.
  template <class Function>
  auto outside(Function&& function) {
    const Clock::time_point begin = Clock::now();
    auto result = function();
    outside_s_ += since(begin);
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  Clock::time_point start_ = Clock::now();
  double outside_s_ = 0;
};

}  // namespace shardscope::engine
