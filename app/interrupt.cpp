#include "app/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace shardscope::app {
namespace {

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
  stop_.emplace([] { return arrived != 0; });
}

Interrupt::~Interrupt() {
  stop_.reset();
  sigaction(SIGINT, &previous_interrupt_, nullptr);
  sigaction(SIGTERM, &previous_terminate_, nullptr);
}

}  // namespace shardscope::app
