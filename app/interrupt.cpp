#include "app/interrupt.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{1};
constexpr std::chrono::milliseconds kTick{50};

/// The last signal that arrived. A handler rather than a blocked mask, as libraries start threads
/// of their own before main() and any of them may be handed the signal.
std::atomic<int> arrived{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not lock");

void note_signal(int signal) {
  if (arrived.exchange(signal) != 0) std::_Exit(128 + signal);
}

}  // namespace

Interrupt::Interrupt() {
  arrived = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &previous_interrupt_);
  sigaction(SIGTERM, &action, &previous_terminate_);
  thread_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  thread_.join();
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
}

bool Interrupt::requested() const {
  const std::lock_guard lock(mutex_);
  return requested_;
}

void Interrupt::when_late(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  late_ = std::move(action);
}

void Interrupt::watch() {
  Clock::time_point first;
  bool called = false;
  while (true) {
    std::this_thread::sleep_for(kTick);
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    if (!requested_ && arrived != 0) {
      requested_ = true;
      first = Clock::now();
    }
    if (requested_ && !called && late_ && Clock::now() - first >= kGrace) {
      called = true;
      // Under the lock: when_late(nullptr) then waits until the action has returned.
      late_();
    }
  }
}

}  // namespace shardscope::app
