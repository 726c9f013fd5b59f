#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "bench/kernels/cases.hpp"
#include "bench/kernels/rows.hpp"
#include "bench/kernels/setup.hpp"

namespace shardscope::engine {
namespace {

/// Prefetch distances the read-only loop may choose from; its best one is the limit.
constexpr std::int64_t kDistances[] = {8, 12, 16, 24, 32};

/// Each of `threads` threads pools its share of the bags.
double pool_seconds(const std::vector<std::int32_t>& ids, int threads) {
  static const std::vector<std::int32_t> lengths = bag_lengths();
  const std::int64_t bags = kBags / threads;
  return seconds_on_threads(threads, [&](int t) {
    GatherPool call;
    call.rows = fixture().table.data();
    call.row_stride = kWidth;
    call.width = static_cast<std::int32_t>(kWidth);
    call.bags = bags;
    call.lengths = lengths.data();
    call.ids = ids.data() + t * bags * kHotness;
    call.out = fixture().out.as<float>() + t * bags * kWidth;
    call.out_stride = kWidth;
    gather_pool(call);
  });
}

double read_seconds(const std::vector<std::int32_t>& ids, int threads, std::int64_t distance) {
  const std::int64_t count = kIds / threads;
  return seconds_on_threads(threads, [&](int t) {
    benchmark::DoNotOptimize(
        read_rows(fixture().table.as<float>(), kWidth, ids.data() + t * count, count, distance));
  });
}

std::int64_t best_distance(const std::vector<std::int32_t>& ids, int threads) {
  std::int64_t best = kDistances[0];
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    for (const std::int64_t distance : kDistances) {
      const double seconds = read_seconds(ids, threads, distance);
      if (seconds < least) {
        least = seconds;
        best = distance;
      }
    }
  }
  return best;
}

void pool(benchmark::State& state) {
  const bool zipf = state.range(0) != 0;
  const auto threads = static_cast<int>(state.range(1));
  const auto& ids = fixture().rows_of[zipf ? 1 : 0];
  const std::int64_t distance = best_distance(ids, threads);
  const double bytes = static_cast<double>(kIds * kRowBytes);
  compare(
      state, fmt::format("pool, {}, {} thread(s)", zipf ? "Zipf 1.1" : "uniform", threads), 0.9,
      bytes, bytes, [&] { return read_seconds(ids, threads, distance); },
      [&] { return pool_seconds(ids, threads); });
}

void pool_zipf_against_uniform(benchmark::State& state) {
  const double bytes = static_cast<double>(kIds * kRowBytes);
  compare(
      state, "pool, Zipf 1.1 against uniform", 1.0, bytes, bytes,
      [&] { return pool_seconds(fixture().rows_of[0], 1); },
      [&] { return pool_seconds(fixture().rows_of[1], 1); });
}

/// Pooling rows of the type; limit: a loop that reads as many bytes of the same memory.
void pool_typed(benchmark::State& state) {
  const auto type = static_cast<DType>(state.range(0));
  fill_table(type);
  const auto& ids = fixture().rows_of[0];
  static const std::vector<std::int32_t> lengths = bag_lengths();
  const std::int64_t words = kWidth * bytes_of(type) / 4;
  const double bytes = static_cast<double>(kIds * words * 4);
  compare(
      state, fmt::format("pool of {} rows, uniform, 1 thread", to_string(type)), 0.9, bytes, bytes,
      [&] {
        return seconds_of([&] {
          benchmark::DoNotOptimize(
              read_rows(fixture().table.as<float>(), words, ids.data(), kIds, 24));
        });
      },
      [&] {
        return seconds_of([&] {
          GatherPool call;
          call.rows = fixture().table.data();
          call.row_type = type;
          call.row_stride = kWidth;
          call.width = static_cast<std::int32_t>(kWidth);
          call.bags = kBags;
          call.lengths = lengths.data();
          call.ids = ids.data();
          call.out = fixture().out.data();
          call.out_stride = kWidth;
          gather_pool(call);
        });
      });
}

}  // namespace

void add_pool_cases() {
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  add_case("pool", pool)
      ->ArgNames({"zipf", "threads"})
      ->ArgsProduct(
          {{0, 1}, cores > 1 ? std::vector<std::int64_t>{1, cores} : std::vector<std::int64_t>{1}});
  add_case("pool_zipf_against_uniform", pool_zipf_against_uniform);
  add_case("pool_typed", pool_typed)->ArgName("type")->ArgsProduct({row_types()});
}

}  // namespace shardscope::engine
