#pragma once
// A stop that insists: asked to end, work has one second to do so by itself.

#include <functional>
#include <mutex>
#include <thread>

namespace shardscope::app {

class LateStop {
 public:
  /// `asked` is called every 50 ms from a thread of its own until it returns true.
  explicit LateStop(std::function<bool()> asked);
  ~LateStop();
  LateStop(const LateStop&) = delete;
  LateStop& operator=(const LateStop&) = delete;

  [[nodiscard]] bool requested() const;

  /// Called once from that thread, one second after the request. Unset before what it refers to
  /// goes away; null waits until a running action has returned.
  void when_late(std::function<void()> action);

 private:
  void watch();

  std::function<bool()> asked_;
  mutable std::mutex mutex_;
  std::function<void()> late_;
  bool requested_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace shardscope::app
