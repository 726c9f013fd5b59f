#pragma once
// Independent pieces of work over the machine's threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace shardscope::engine {

/// Calls work(i) once for every i in [0, count), from several threads; returns when all are done.
/// `work` must not throw.
template <class Work>
void parallel_for(std::int64_t count, const Work& work) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t helpers = std::clamp<std::int64_t>(std::min(cores, count) - 1, 0, 31);
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> threads;
  try {
    for (std::int64_t i = 0; i < helpers; ++i) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // The machine gives no more threads: those there are do the work.
  }
  run();
}

}  // namespace shardscope::engine
