#include "engine/cuda/host/block.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/cuda/host/fiber.hpp"

#if defined(SHARDSCOPE_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace shardscope::engine::cuda::host {
namespace {

// What ThreadSanitizer is told: everything before the launch is before every thread, a barrier
// orders its threads, everything in the kernel is before the launch's end.
void release(void* tag) {
#if defined(SHARDSCOPE_TSAN_FIBERS)
  __tsan_release(tag);
#else
  static_cast<void>(tag);
#endif
}
void acquire(void* tag) {
#if defined(SHARDSCOPE_TSAN_FIBERS)
  __tsan_acquire(tag);
#else
  static_cast<void>(tag);
#endif
}

/// Under ThreadSanitizer a fiber carries one GPU thread only: it stands for a thread there.
#if defined(SHARDSCOPE_TSAN_FIBERS)
constexpr bool kFiberEach = true;
#else
constexpr bool kFiberEach = false;
#endif

constexpr std::byte kUnwritten{0xCB};
constexpr std::uint32_t kAllLanes = 0xffffffffU;

/// Unwinds a waiting thread after a fault of another.
struct Unwind {};

struct Runner;

struct Warp {
  std::uint32_t arrived = 0;
  std::uint32_t epoch = 0;
  int line = 0;
  std::array<std::array<std::uint64_t, kWarpThreads>, 2> values{};
  std::vector<Runner*> waiting;
};

struct Shared {
  const void* key = nullptr;
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<std::byte[]> shadow;
};

struct Block {
  Position position;
  void (*kernel)(const void*) = nullptr;
  const void* argument = nullptr;
  std::vector<std::uint32_t> order;
  std::uint32_t started = 0;
  std::uint32_t ended = 0;
  std::uint32_t at_barrier = 0;
  std::uint32_t epoch = 0;
  int barrier_line = 0;
  std::vector<Warp> warps;
  std::vector<Runner*> ready;
  std::vector<Runner*> waiting;  ///< at the barrier
  std::vector<Shared> shared;
  std::vector<Shared> used_shared;  ///< of the blocks before: freed behind the launch
  std::exception_ptr error;
  char start_tag = 0;
  char end_tag = 0;
};

/// A fiber and the GPU thread it carries now.
struct Runner {
  Fiber fiber;
  std::uint32_t thread = 0;
  std::unique_ptr<Runner> next;  ///< of the pool's spare ones
};

thread_local Block* current_block = nullptr;
thread_local Runner* current_runner = nullptr;
thread_local std::uint64_t order_seed = 0;

/// Runners that no block uses now, of all OS threads: making one is expensive under
/// ThreadSanitizer. The lock is one that ThreadSanitizer does not see, since it orders nothing that
/// a kernel does; so nothing is allocated or freed under it.
class RunnerPool {
 public:
  ~RunnerPool() {
    while (spare_) spare_ = std::move(spare_->next);  // not one inside the other
  }
  std::unique_ptr<Runner> take() {
    lock();
    std::unique_ptr<Runner> runner = std::move(spare_);
    if (runner) spare_ = std::move(runner->next);
    unlock();
    return runner ? std::move(runner) : std::make_unique<Runner>();
  }
  void give(std::unique_ptr<Runner> runner) {
    lock();
    runner->next = std::move(spare_);
    spare_ = std::move(runner);
    unlock();
  }

 private:
  void lock() {
    while (__atomic_test_and_set(&taken_, __ATOMIC_ACQUIRE)) std::this_thread::yield();
  }
  void unlock() { __atomic_clear(&taken_, __ATOMIC_RELEASE); }

  bool taken_ = false;
  std::unique_ptr<Runner> spare_;
};

RunnerPool& runner_pool() {
  static RunnerPool pool;
  return pool;
}

std::string place_of(const Block& block) {
  return fmt::format("block ({}, {}), thread {}", block.position.block_x, block.position.block_y,
                     block.position.thread);
}

/// The calling GPU thread waits until something makes it ready.
void wait_here() {
  Runner& self = *current_runner;
  self.fiber.suspend();
  Block& block = *current_block;
  block.position.thread = self.thread;
  if (block.error) throw Unwind{};
}

// Moves no memory at once: ThreadSanitizer would see it.
void wake(Block& block, std::vector<Runner*>& waiting) {
  for (Runner* runner : waiting) block.ready.push_back(runner);
  waiting.clear();
}

void run_thread(Block& block, Runner& runner) {
  runner.thread = block.order[block.started++];
  block.position.thread = runner.thread;
  acquire(&block.start_tag);
  try {
    block.kernel(block.argument);
  } catch (const Unwind&) {
  } catch (...) {
    if (!block.error) block.error = std::current_exception();
  }
  release(&block.end_tag);
  ++block.ended;
}

/// What a fiber does: threads that never wait follow each other on it.
void carry_threads(void* argument) {
  auto& runner = *static_cast<Runner*>(argument);
  Block& block = *current_block;
  do {
    run_thread(block, runner);
  } while (!kFiberEach && !block.error && block.started < block.order.size());
}

Runner* take_runner(std::vector<std::unique_ptr<Runner>>& in_use) {
  in_use.push_back(runner_pool().take());
  return in_use.back().get();
}

std::string stuck_text(const Block& block) {
  std::string text = fmt::format(
      "block ({}, {}) cannot go on: {} of {} threads have ended, {} wait at the barrier of line {}",
      block.position.block_x, block.position.block_y, block.ended, block.order.size(),
      block.at_barrier, block.barrier_line);
  for (std::size_t w = 0; w < block.warps.size(); ++w) {
    if (block.warps[w].arrived == 0) continue;
    text += fmt::format(", warp {} waits at line {} with lanes {:08x}", w, block.warps[w].line,
                        block.warps[w].arrived);
  }
  return text;
}

void report_stuck(Block& block) {
  block.error = std::make_exception_ptr(KernelFault(stuck_text(block)));
}

void run_block(Block& block) {
  block.started = block.ended = block.at_barrier = 0;
  for (Warp& warp : block.warps) warp.arrived = 0;
  for (Shared& shared : block.shared) block.used_shared.push_back(std::move(shared));
  block.shared.clear();
  std::vector<std::unique_ptr<Runner>> in_use;
  const auto threads = static_cast<std::uint32_t>(block.order.size());
  for (;;) {
    if (block.error) {
      wake(block, block.waiting);
      for (Warp& warp : block.warps) wake(block, warp.waiting);
    }
    if (!block.ready.empty()) {
      current_runner = block.ready.back();
      block.ready.pop_back();
      current_runner->fiber.resume();
    } else if (!block.error && block.started < threads) {
      current_runner = take_runner(in_use);
      current_runner->fiber.start(carry_threads, current_runner);
    } else if (!block.error && block.ended < threads) {
      report_stuck(block);
    } else {
      break;
    }
  }
  for (auto& runner : in_use) runner_pool().give(std::move(runner));
  if (block.error) std::rethrow_exception(block.error);
}

void shuffle_order(Block& block) {
  if (order_seed == 0) return;
  std::minstd_rand random(static_cast<std::uint32_t>(order_seed + block.position.block_x * 7919U +
                                                     block.position.block_y * 104729U));
  for (std::size_t n = block.order.size(); n > 1; --n) {
    std::swap(block.order[n - 1], block.order[random() % n]);
  }
}

}  // namespace

const Position& position() {
  return current_block->position;
}

void set_order_seed(std::uint64_t seed) {
  order_seed = seed;
}

void run_grid(const Grid& grid, void (*kernel)(const void*), const void* argument) {
  if (grid.threads == 0 || grid.threads % kWarpThreads != 0 || grid.threads > kMaxBlockThreads) {
    throw KernelFault(fmt::format("a block of {} threads", grid.threads));
  }
  Block block;
  block.position.grid = grid;
  block.kernel = kernel;
  block.argument = argument;
  block.order.resize(grid.threads);
  std::iota(block.order.begin(), block.order.end(), 0U);
  block.warps.resize(grid.threads / kWarpThreads);
  block.ready.reserve(grid.threads);
  block.waiting.reserve(grid.threads);
  for (Warp& warp : block.warps) warp.waiting.reserve(kWarpThreads);
  Block* outer = std::exchange(current_block, &block);
  std::exception_ptr error;
  for (std::uint64_t n = 0; n < std::uint64_t{grid.x} * grid.y && !error; ++n) {
    block.position.block_x = static_cast<std::uint32_t>(n % grid.x);
    block.position.block_y = static_cast<std::uint32_t>(n / grid.x);
    shuffle_order(block);
    release(&block.start_tag);
    try {
      run_block(block);
    } catch (...) {
      error = std::current_exception();
    }
  }
  acquire(&block.end_tag);
  current_block = outer;
  if (error) std::rethrow_exception(error);
}

void block_barrier(int line) {
  Block& block = *current_block;
  if (block.at_barrier == 0) block.barrier_line = line;
  if (block.barrier_line != line) {
    fault(fmt::format("divergent barrier: this thread is at line {}, others wait at line {}", line,
                      block.barrier_line)
              .c_str());
  }
  release(&block.epoch);
  if (++block.at_barrier == block.order.size()) {
    block.at_barrier = 0;
    ++block.epoch;
    wake(block, block.waiting);
  } else {
    block.waiting.push_back(current_runner);
    wait_here();
  }
  acquire(&block.epoch);
}

const std::uint64_t* warp_exchange(std::uint64_t value, int line) {
  Block& block = *current_block;
  Warp& warp = block.warps[block.position.thread / kWarpThreads];
  const std::uint32_t lane = block.position.thread % kWarpThreads;
  if (warp.arrived == 0) warp.line = line;
  if (warp.line != line) {
    fault(fmt::format("divergent warp: this lane is at line {}, others wait at line {}", line,
                      warp.line)
              .c_str());
  }
  // Two sets of values: a lane still reads the last set while another gives its next value.
  auto& values = warp.values[warp.epoch % 2];
  values[lane] = value;
  warp.arrived |= 1U << lane;
  release(&warp.epoch);
  if (warp.arrived == kAllLanes) {
    warp.arrived = 0;
    ++warp.epoch;
    wake(block, warp.waiting);
  } else {
    warp.waiting.push_back(current_runner);
    wait_here();
  }
  acquire(&warp.epoch);
  return values.data();
}

SharedBlock shared_block(const void* key, std::size_t bytes, std::size_t shadow_bytes) {
  Block& block = *current_block;
  for (const Shared& shared : block.shared) {
    if (shared.key == key) return {shared.data.get(), shared.shadow.get()};
  }
  Shared shared{key, std::make_unique<std::byte[]>(bytes),
                std::make_unique<std::byte[]>(shadow_bytes)};
  std::fill_n(shared.data.get(), bytes, kUnwritten);
  block.shared.push_back(std::move(shared));
  return {block.shared.back().data.get(), block.shared.back().shadow.get()};
}

Moment moment() {
  const Block& block = *current_block;
  const std::uint32_t thread = block.position.thread;
  return {thread, block.epoch, block.warps[thread / kWarpThreads].epoch};
}

void fault(const char* what) {
  throw KernelFault(fmt::format("{}: {}", place_of(*current_block), what));
}

}  // namespace shardscope::engine::cuda::host
