#pragma once
// What the cases share: memory, ids, a clock, and the comparison with a limit.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/batches/row_sampler.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/cpu/memory.hpp"

namespace shardscope::engine {

inline constexpr std::int64_t kWidth = 128;
inline constexpr std::int64_t kRowBytes = kWidth * 4;
inline constexpr std::int64_t kHotness = 20;
inline constexpr std::int64_t kBags = 16384;
inline constexpr std::int64_t kIds = kBags * kHotness;

/// Pairs of limit and kernel that a case runs.
inline constexpr int kPairs = 15;

/// Ends the program where there is no memory.
[[nodiscard]] HugeMemory allocated(std::int64_t bytes);

/// Seconds the calling thread spent computing or waiting for memory. Other programs that take the
/// core away do not count, so that the figures hold on a machine that is not idle.
[[nodiscard]] double seconds_of(const std::function<void()>& work);
/// Seconds of the slowest of `threads` threads that start together.
[[nodiscard]] double seconds_on_threads(int threads, const std::function<void(int)>& work);

/// Everything the cases read and write, made once.
struct Fixture {
  Fixture();
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::vector<std::int32_t> ids(IdDistributionKind kind) const;

  HugeMemory table, state, gradients, out;
  std::vector<std::int32_t> rows_of[2];  ///< uniform, Zipf 1.1
};
[[nodiscard]] Fixture& fixture();

/// The table's memory seen as rows of the type. They all hold 0.5.
void fill_table(DType type);
[[nodiscard]] std::vector<std::int32_t> bag_lengths();

/// Seconds of copying a buffer that no cache holds; both streams count: kCopyBytes.
[[nodiscard]] double copy_seconds();
inline constexpr double kCopyBytes = static_cast<double>(2 * kIds * kRowBytes);

/// Runs limit and ours alternately; both return seconds for `bytes` bytes each.
void compare(benchmark::State& state, const std::string& name, double target, double limit_bytes,
             double bytes, const std::function<double()>& limit,
             const std::function<double()>& ours);

/// A case of kPairs pairs.
inline benchmark::internal::Benchmark* add_case(const char* name, void (*run)(benchmark::State&)) {
  return benchmark::RegisterBenchmark(name, run)->Iterations(kPairs)->UseManualTime();
}

/// One line a case.
void print_summary();

}  // namespace shardscope::engine
