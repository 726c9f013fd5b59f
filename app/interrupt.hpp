#pragma once
// Ctrl-C that keeps what was measured. The first SIGINT or SIGTERM asks the command to stop at the
// next good moment; the second ends the process at once.

#include <csignal>
#include <functional>
#include <optional>

#include "app/late_stop.hpp"

namespace shardscope::app {

/// Takes both signals over for its lifetime, whichever thread the system hands them to. One at a
/// time in a process.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] bool requested() const { return stop_->requested(); }

  /// See LateStop::when_late.
  void when_late(std::function<void()> action) { stop_->when_late(std::move(action)); }

 private:
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
  std::optional<LateStop> stop_;
};

}  // namespace shardscope::app
