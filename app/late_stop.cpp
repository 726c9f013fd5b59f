#include "app/late_stop.hpp"

#include <chrono>
#include <utility>

namespace shardscope::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{1};
constexpr std::chrono::milliseconds kTick{50};

}  // namespace

LateStop::LateStop(std::function<bool()> asked) : asked_(std::move(asked)) {
  thread_ = std::thread([this] { watch(); });
}

LateStop::~LateStop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  thread_.join();
}

bool LateStop::requested() const {
  const std::lock_guard lock(mutex_);
  return requested_;
}

void LateStop::when_late(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  late_ = std::move(action);
}

void LateStop::watch() {
  Clock::time_point first;
  bool called = false;
  while (true) {
    std::this_thread::sleep_for(kTick);
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    if (!requested_ && asked_()) {
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
