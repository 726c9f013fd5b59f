#pragma once
// A stack of its own that runs until it hands control back. Carries one GPU thread on the CPU.
// Knows the sanitizers: they are told of every change of stack.

#include <cstddef>
#include <memory>

namespace shardscope::engine::cuda::host {

/// Not movable: the body runs on a stack that belongs to it. resume() and suspend() must be called
/// by one OS thread.
class Fiber {
 public:
  using Body = void (*)(void*);

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Calls body(argument) on the fiber's stack; returns when the body suspends or ends. Only an
  /// idle fiber can be started. The body may not throw.
  void start(Body body, void* argument);
  /// Goes on behind the suspend() that the fiber stands in.
  void resume();
  /// Called on the fiber: back to whoever started or resumed it.
  void suspend();
  /// The body has ended.
  [[nodiscard]] bool idle() const;

 private:
  struct State;
  static void loop(State& state);

  std::unique_ptr<State> state_;
};

}  // namespace shardscope::engine::cuda::host
