#pragma once
// Ctrl-C that keeps what was measured. The first SIGINT or SIGTERM asks the command to stop at the
// next good moment; the second ends the process at once.

#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace shardscope::app {

/// Takes both signals over for its lifetime, whichever thread the system hands them to. One at a
/// time in a process.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] bool requested() const;

  /// Called from the watching thread when the work has not stopped one second after the signal
  /// (Engine::abort). Unset before what it refers to goes away.
  void when_late(std::function<void()> action);

 private:
  void watch();

  mutable std::mutex mutex_;
  std::function<void()> late_;
  bool requested_ = false;
  bool stop_ = false;
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
  std::thread thread_;
};

}  // namespace shardscope::app
