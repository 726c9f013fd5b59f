// The cpu kernels against what the memory allows: pooling against a loop that only reads the same
// rows, gradient reduction and update against the copy bandwidth, sorting against the standard
// library; gathers, updates and wire conversions of 16-bit rows likewise. Limit and kernel run
// alternately in one process; each iteration of a benchmark is one such pair, and the summary gives
// the median of the pairs' ratios.
//
//   kernels [--benchmark_filter=...]   2 GiB table; SHARDSCOPE_BENCH_MIB=N makes it smaller

#include <benchmark/benchmark.h>

#include "engine/cpu/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels.cpp"
#include <hwy/foreach_target.h>

#include "engine/cpu/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace shardscope::engine::HWY_NAMESPACE {
namespace {

/// Reads whole rows, fetching ahead, and keeps one sum so that the reads are needed.
float read_rows(const float* table, std::int64_t width, const std::int32_t* ids, std::int64_t count,
                std::int64_t distance) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  for (std::int64_t n = 0; n < count; ++n) {
    if (n + distance < count) prefetch_bytes(table + ids[n + distance] * width, width * 4);
    const float* row = table + ids[n] * width;
    for (std::int64_t c = 0; c < width; c += 2 * lanes) {
      even = hn::Add(even, hn::LoadU(d, row + c));
      odd = hn::Add(odd, hn::LoadU(d, row + c + lanes));
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

/// Reads and writes back rows, fetching ahead.
void rewrite_rows(float* table, std::int64_t width, const std::int64_t* rows, std::int64_t count,
                  std::int64_t distance) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto change = hn::Set(d, 1e-6F);
  for (std::int64_t u = 0; u < count; ++u) {
    if (u + distance < count) prefetch_bytes(table + rows[u + distance] * width, width * 4);
    float* row = table + rows[u] * width;
    for (std::int64_t c = 0; c < width; c += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, row + c), change), d, row + c);
    }
  }
}

}  // namespace
}  // namespace shardscope::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/batches/row_sampler.hpp"
#include "engine/cpu/memory.hpp"
#include "layout/invariant.hpp"

namespace shardscope::engine {

HWY_EXPORT(read_rows);
HWY_EXPORT(rewrite_rows);

namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kRowBytes = kWidth * 4;
constexpr std::int64_t kHotness = 20;
constexpr std::int64_t kBags = 16384;
constexpr std::int64_t kIds = kBags * kHotness;

/// Prefetch distances the read-only loop may choose from; its best one is the limit.
constexpr std::int64_t kDistances[] = {8, 12, 16, 24, 32};

std::int64_t table_bytes() {
  const char* mib = std::getenv("SHARDSCOPE_BENCH_MIB");
  return (mib != nullptr ? std::max(std::atoll(mib), 64LL) : 2048LL) << 20;
}

HugeMemory allocated(std::int64_t bytes) {
  auto memory = HugeMemory::allocate(bytes, "benchmark");
  if (!memory) {
    fmt::print(stderr, "{}\n", to_string(memory.error()));
    std::exit(exit_code(memory.error().kind));
  }
  return std::move(*memory);
}

/// Seconds the calling thread spent computing or waiting for memory. Other programs that take the
/// core away do not count, so that the figures hold on a machine that is not idle.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

/// Seconds of the slowest of `threads` threads that start together.
double seconds_on_threads(int threads, const std::function<void(int)>& work) {
  if (threads == 1) return seconds_of([&] { work(0); });
  std::barrier gate(threads);
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  {
    std::vector<std::jthread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        gate.arrive_and_wait();
        seconds[static_cast<std::size_t>(t)] = seconds_of([&] { work(t); });
      });
    }
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Everything the cases read and write, made once.
struct Fixture {
  Fixture()
      : table(allocated(table_bytes())),
        state(allocated(rows() * 4)),
        gradients(allocated(kIds * kRowBytes)),
        out(allocated(kIds * kRowBytes)),
        rows_of{ids(IdDistributionKind::uniform), ids(IdDistributionKind::zipf)} {
    std::fill_n(table.as<float>(), rows() * kWidth, 0.5F);
    std::fill_n(gradients.as<float>(), kIds * kWidth, 0.25F);
    std::fill_n(out.as<float>(), kIds * kWidth, 0.0F);
  }

  [[nodiscard]] std::int64_t rows() const { return table_bytes() / kRowBytes; }

  [[nodiscard]] std::vector<std::int32_t> ids(IdDistributionKind kind) const {
    IdDistribution distribution;
    distribution.kind = kind;
    distribution.alpha = 1.1;
    const auto sampler = RowSampler::make(distribution, rows(), 1, 0, "bench");
    Draws draws(DrawKey{.seed = 1});
    std::vector<std::int32_t> drawn(static_cast<std::size_t>(kIds));
    for (std::int32_t& id : drawn) id = static_cast<std::int32_t>((*sampler)(draws));
    return drawn;
  }

  HugeMemory table, state, gradients, out;
  std::vector<std::int32_t> rows_of[2];  ///< uniform, Zipf 1.1
};

Fixture& fixture() {
  static Fixture made;
  return made;
}

/// One line of the summary.
struct Line {
  std::string name;
  double limit_gb_per_s;
  double ours_gb_per_s;
  double share;
  double target;
};
std::vector<Line> summary;

/// Runs limit and ours alternately; both return seconds for `bytes` bytes each.
void compare(benchmark::State& state, const std::string& name, double target, double limit_bytes,
             double bytes, const std::function<double()>& limit,
             const std::function<double()>& ours) {
  std::vector<double> limits;
  std::vector<double> times;
  std::vector<double> shares;
  bool limit_first = true;
  for (auto _ : state) {
    double limit_seconds = limit_first ? limit() : 0;
    const double seconds = ours();
    if (!limit_first) limit_seconds = limit();
    limit_first = !limit_first;
    limits.push_back(limit_seconds);
    times.push_back(seconds);
    shares.push_back((bytes / seconds) / (limit_bytes / limit_seconds));
    state.SetIterationTime(seconds);
  }
  const Line line{name, limit_bytes / median(limits) / 1e9, bytes / median(times) / 1e9,
                  median(shares), target};
  state.counters["limit_GB/s"] = line.limit_gb_per_s;
  state.counters["GB/s"] = line.ours_gb_per_s;
  state.counters["share"] = line.share;
  summary.push_back(line);
}

// --- pooling ---------------------------------------------------------------------------------

std::vector<std::int32_t> bag_lengths() {
  return std::vector<std::int32_t>(static_cast<std::size_t>(kBags), kHotness);
}

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
    benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(read_rows)(
        fixture().table.as<float>(), kWidth, ids.data() + t * count, count, distance));
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

// --- backward ---------------------------------------------------------------------------------

/// Index calculation, reduction and row-wise adagrad of one batch.
class Backward {
 public:
  Backward(const std::vector<std::int32_t>& ids, bool gradient_per_bag)
      : ids_(ids),
        unique_rows_(kIds),
        offsets_(kIds + 1),
        gradient_row_(kIds),
        gradient_of_(kIds),
        squares_(kIds),
        scratch_(allocated(sort_scratch_bytes(kIds, fixture().rows()))) {
    for (std::size_t n = 0; n < gradient_of_.size(); ++n) {
      gradient_of_[n] = static_cast<std::uint32_t>(gradient_per_bag ? n / kHotness : n);
    }
    sort();
  }

  void sort() {
    SortIndex call;
    call.count = kIds;
    call.rows = ids_.data();
    call.row_limit = fixture().rows();
    call.gradient_row = gradient_of_.data();
    call.unique_rows = unique_rows_.data();
    call.offsets = offsets_.data();
    call.sorted_gradient_row = gradient_row_.data();
    call.unique_count = &unique_;
    call.scratch = scratch_.data();
    sort_index(call);
  }

  void run() {
    SegmentReduce reduce = reduction();
    reduce.out = fixture().out.as<float>();
    reduce.square_sum = squares_.data();
    segment_reduce(reduce);
    OptimizerUpdate call = update();
    call.gradients = reduce.out;
    call.row_square_sum = squares_.data();
    optimizer_update(call);
  }

  /// Only touches what must be touched, in the order of the rows: gradients are read, weights read
  /// and written. No index calculation, no state.
  void touch() const {
    const auto* order = reinterpret_cast<const std::int32_t*>(gradient_row_.data());
    benchmark::DoNotOptimize(
        HWY_DYNAMIC_DISPATCH(read_rows)(fixture().gradients.as<float>(), kWidth, order, kIds, 16));
    HWY_DYNAMIC_DISPATCH(rewrite_rows)
    (fixture().table.as<float>(), kWidth, unique_rows_.data(), unique_, 8);
  }

  /// n (D e_grad + 2 key bytes) + u (2 D e_w + 2 state bytes).
  [[nodiscard]] double bytes() const {
    return static_cast<double>(kIds * (kRowBytes + 2 * 4) + unique_ * (2 * kRowBytes + 2 * 4));
  }
  [[nodiscard]] std::int64_t unique() const { return unique_; }

 private:
  [[nodiscard]] SegmentReduce reduction() const {
    SegmentReduce call;
    call.unique_count = &unique_;
    call.offsets = offsets_.data();
    call.gradient_row = gradient_row_.data();
    call.gradients = fixture().gradients.data();
    call.stride = kWidth;
    call.width = static_cast<std::int32_t>(kWidth);
    return call;
  }
  [[nodiscard]] OptimizerUpdate update() const {
    OptimizerUpdate call;
    call.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad, 1e-6);
    call.unique_count = &unique_;
    call.unique_rows = unique_rows_.data();
    call.rows = fixture().table.data();
    call.width = static_cast<std::int32_t>(kWidth);
    call.full_width = call.width;
    call.state = fixture().state.as<float>();
    call.row_count = fixture().rows();
    return call;
  }

  const std::vector<std::int32_t>& ids_;
  std::vector<std::int64_t> unique_rows_;
  std::vector<std::uint32_t> offsets_, gradient_row_, gradient_of_;
  std::vector<float> squares_;
  HugeMemory scratch_;
  std::int64_t unique_ = 0;
};

/// Copies a buffer that no cache holds; both streams count.
double copy_seconds() {
  return seconds_of([] {
    std::memcpy(fixture().out.data(), fixture().gradients.data(),
                static_cast<std::size_t>(kIds * kRowBytes));
    benchmark::ClobberMemory();
  });
}

void backward(benchmark::State& state) {
  const bool zipf = state.range(0) != 0;
  const bool per_bag = state.range(1) != 0;
  Backward work(fixture().rows_of[zipf ? 1 : 0], per_bag);
  compare(state,
          fmt::format("sort + reduce + row-wise adagrad, {}, a gradient per {} (u/n {:.2f})",
                      zipf ? "Zipf 1.1" : "uniform", per_bag ? "bag" : "id",
                      static_cast<double>(work.unique()) / static_cast<double>(kIds)),
          0.6, static_cast<double>(2 * kIds * kRowBytes), work.bytes(), copy_seconds, [&] {
            return seconds_of([&] {
              work.sort();
              work.run();
            });
          });
}

/// What random rows leave of the copy bandwidth: a loop that only touches gradients and weights.
void backward_against_touching(benchmark::State& state) {
  const bool zipf = state.range(0) != 0;
  const bool per_bag = state.range(1) != 0;
  Backward work(fixture().rows_of[zipf ? 1 : 0], per_bag);
  compare(
      state,
      fmt::format("the same against touching the rows, {}, a gradient per {}",
                  zipf ? "Zipf 1.1" : "uniform", per_bag ? "bag" : "id"),
      0.6, work.bytes(), work.bytes(), [&] { return seconds_of([&] { work.touch(); }); },
      [&] {
        return seconds_of([&] {
          work.sort();
          work.run();
        });
      });
}

void sort_against_stable_sort(benchmark::State& state) {
  const auto& ids = fixture().rows_of[state.range(0) != 0 ? 1 : 0];
  Backward work(ids, true);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(kIds));
  const double bytes = static_cast<double>(kIds * 4);
  compare(
      state,
      fmt::format("sort_index against std::stable_sort, {}",
                  state.range(0) != 0 ? "Zipf 1.1" : "uniform"),
      1.0, bytes, bytes,
      [&] {
        std::iota(order.begin(), order.end(), 0U);
        return seconds_of([&] {
          std::stable_sort(order.begin(), order.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
        });
      },
      [&] { return seconds_of([&] { work.sort(); }); });
}

// --- 16-bit rows ------------------------------------------------------------------------------

/// The table's memory seen as rows of the type. They all hold 0.5.
void fill_table(DType type) {
  static DType present = DType::fp32;
  if (std::exchange(present, type) == type) return;
  const std::int64_t count = fixture().rows() * kWidth;
  with_value_type(type, [&](auto value) {
    using Value = decltype(value);
    std::fill_n(fixture().table.as<Value>(), count, from_float<Value>(0.5F));
  });
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
          benchmark::DoNotOptimize(HWY_DYNAMIC_DISPATCH(read_rows)(fixture().table.as<float>(),
                                                                   words, ids.data(), kIds, 24));
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

constexpr OptimizerKind kOptimizers[] = {OptimizerKind::sgd, OptimizerKind::adagrad,
                                         OptimizerKind::rowwise_adagrad, OptimizerKind::adam};

/// Updates distinct random rows of a quarter of the table. Bytes: gradients once, weights and state
/// there and back.
void update_typed(benchmark::State& state) {
  const OptimizerKind kind = kOptimizers[state.range(0)];
  const auto type = static_cast<DType>(state.range(1));
  fill_table(type);
  const std::int64_t row_count = fixture().rows() / 4;
  std::vector<std::int64_t> rows;
  for (const std::int32_t id : fixture().rows_of[0]) rows.push_back(id % row_count);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const auto count = static_cast<std::int64_t>(rows.size());
  OptimizerUpdate call;
  call.optimizer = make_optimizer(kind, 1e-6);
  const std::int64_t words =
      call.optimizer.words_per_element * kWidth + call.optimizer.words_per_row;
  const HugeMemory words_of_rows = allocated(std::max<std::int64_t>(words * row_count * 4, 64));
  std::fill_n(words_of_rows.as<float>(), words * row_count, 0.0F);
  const std::vector<float> squares(rows.size(), 1.0F);
  call.unique_count = &count;
  call.unique_rows = rows.data();
  call.gradients = fixture().gradients.as<float>();
  call.row_square_sum = squares.data();
  call.rows = fixture().table.data();
  call.row_type = type;
  call.width = static_cast<std::int32_t>(kWidth);
  call.full_width = call.width;
  call.state = words_of_rows.as<float>();
  call.row_count = row_count;
  const double bytes =
      static_cast<double>(count * (kRowBytes + 2 * kWidth * bytes_of(type) + 2 * words * 4));
  compare(state, fmt::format("update of {} rows, {}", to_string(type), to_string(kind)), 0.6,
          static_cast<double>(2 * kIds * kRowBytes), bytes, copy_seconds, [&] {
            ++call.step;
            return seconds_of([&] { optimizer_update(call); });
          });
}

/// fp32 rows into a wire's type; limit: memcpy.
void to_wire(benchmark::State& state) {
  const auto type = static_cast<DType>(state.range(0));
  CopyColumns call;
  call.from = fixture().gradients.data();
  call.from_stride = kWidth;
  call.to = fixture().out.data();
  call.to_type = type;
  call.to_stride = kWidth;
  call.rows = kIds;
  call.width = static_cast<std::int32_t>(kWidth);
  call.factor = 1024;
  const double bytes = static_cast<double>(kIds * kWidth * (4 + bytes_of(type)));
  compare(state, fmt::format("fp32 rows to a {} wire", to_string(type)), 0.6,
          static_cast<double>(2 * kIds * kRowBytes), bytes, copy_seconds,
          [&] { return seconds_of([&] { copy_columns(call); }); });
}

void print_summary() {
  fmt::print("\n{:<76} {:>10} {:>9} {:>7} {:>7}\n", "kernel", "limit GB/s", "ours GB/s", "share",
             "target");
  for (const Line& line : summary) {
    fmt::print("{:<76} {:>10.1f} {:>9.1f} {:>7.2f} {:>7.2f}\n", line.name, line.limit_gb_per_s,
               line.ours_gb_per_s, line.share, line.target);
  }
}

constexpr int kPairs = 15;

void register_cases() {
  const auto cores = static_cast<std::int64_t>(std::max(std::thread::hardware_concurrency(), 1U));
  benchmark::RegisterBenchmark("pool", pool)
      ->ArgNames({"zipf", "threads"})
      ->ArgsProduct(
          {{0, 1}, cores > 1 ? std::vector<std::int64_t>{1, cores} : std::vector<std::int64_t>{1}})
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("pool_zipf_against_uniform", pool_zipf_against_uniform)
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("backward", backward)
      ->ArgNames({"zipf", "per_bag"})
      ->ArgsProduct({{0, 1}, {0, 1}})
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("backward_against_touching", backward_against_touching)
      ->ArgNames({"zipf", "per_bag"})
      ->ArgsProduct({{0, 1}, {0, 1}})
      ->Iterations(kPairs)
      ->UseManualTime();
  const std::vector<std::int64_t> types = {static_cast<std::int64_t>(DType::fp32),
                                           static_cast<std::int64_t>(DType::fp16),
                                           static_cast<std::int64_t>(DType::bf16)};
  benchmark::RegisterBenchmark("pool_typed", pool_typed)
      ->ArgName("type")
      ->ArgsProduct({types})
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("update_typed", update_typed)
      ->ArgNames({"optimizer", "type"})
      ->ArgsProduct({{0, 1, 2, 3}, types})
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("to_wire", to_wire)
      ->ArgName("type")
      ->ArgsProduct({types})
      ->Iterations(kPairs)
      ->UseManualTime();
  benchmark::RegisterBenchmark("sort_against_stable_sort", sort_against_stable_sort)
      ->ArgName("zipf")
      ->Arg(0)
      ->Arg(1)
      ->Iterations(5)
      ->UseManualTime();
}

}  // namespace
}  // namespace shardscope::engine

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  shardscope::engine::register_cases();
  benchmark::RunSpecifiedBenchmarks();
  shardscope::engine::print_summary();
  return 0;
}

#endif
