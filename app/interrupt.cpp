#include "app/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{1};
constexpr timespec kTick{0, 100'000'000};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGINT);  // ends its sigtimedwait; nothing else sees it
  thread_.join();
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
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
  const sigset_t set = watched_signals();
  Clock::time_point first;
  bool called = false;
  while (true) {
    const int signal = sigtimedwait(&set, nullptr, &kTick);
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      if (signal > 0 && requested_) std::_Exit(128 + signal);
      if (signal > 0) {
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
}

}  // namespace shardscope::app
