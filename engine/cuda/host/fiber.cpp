#include "engine/cuda/host/fiber.hpp"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "layout/invariant.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SHARDSCOPE_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace shardscope::engine::cuda::host {

namespace context = boost::context::detail;

namespace {
constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
}  // namespace

struct Fiber::State {
  void* stack = nullptr;
  context::fcontext_t own = nullptr;     ///< where the fiber goes on
  context::fcontext_t caller = nullptr;  ///< where its resumer goes on
  Body body = nullptr;
  void* argument = nullptr;
  bool idle = true;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  void* caller_fake_stack = nullptr;
  const void* caller_bottom = nullptr;
  std::size_t caller_bytes = 0;
#endif
#if defined(SHARDSCOPE_TSAN_FIBERS)
  void* tsan = nullptr;
  void* caller_tsan = nullptr;
#endif

  void enter() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&caller_fake_stack, stack, kStackBytes);
#endif
#if defined(SHARDSCOPE_TSAN_FIBERS)
    // Without synchronisation: GPU threads are concurrent whatever order they run in here.
    caller_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan, __tsan_switch_to_fiber_no_sync);
#endif
    own = context::jump_fcontext(own, this).fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(caller_fake_stack, nullptr, nullptr);
#endif
  }

  void leave() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake_stack, caller_bottom, caller_bytes);
#endif
#if defined(SHARDSCOPE_TSAN_FIBERS)
    __tsan_switch_to_fiber(caller_tsan, __tsan_switch_to_fiber_no_sync);
#endif
    caller = context::jump_fcontext(caller, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, &caller_bottom, &caller_bytes);
#endif
  }
};

void Fiber::loop(State& state) {
  for (;;) {
    state.body(state.argument);
    state.idle = true;
    state.leave();
  }
}

Fiber::Fiber() : state_(std::make_unique<State>()) {
  state_->stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SHARDSCOPE_CHECK(state_->stack != MAP_FAILED, "no memory for a fiber's stack");
#if defined(__SANITIZE_ADDRESS__)
  // The address may carry the marks of a mapping that was there before.
  ASAN_UNPOISON_MEMORY_REGION(state_->stack, kStackBytes);
#endif
#if defined(SHARDSCOPE_TSAN_FIBERS)
  state_->tsan = __tsan_create_fiber(0);
#endif
  const auto entry = [](context::transfer_t from) {
    auto& state = *static_cast<State*>(from.data);
    state.caller = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &state.caller_bottom, &state.caller_bytes);
#endif
    loop(state);
  };
  state_->own =
      context::make_fcontext(static_cast<char*>(state_->stack) + kStackBytes, kStackBytes, entry);
}

Fiber::~Fiber() {
#if defined(SHARDSCOPE_TSAN_FIBERS)
  __tsan_destroy_fiber(state_->tsan);
#endif
  munmap(state_->stack, kStackBytes);
}

void Fiber::start(Body body, void* argument) {
  state_->body = body;
  state_->argument = argument;
  state_->idle = false;
  state_->enter();
}

void Fiber::resume() {
  state_->enter();
}

void Fiber::suspend() {
  state_->leave();
}

bool Fiber::idle() const {
  return state_->idle;
}

}  // namespace shardscope::engine::cuda::host
