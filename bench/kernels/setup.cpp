#include "bench/kernels/setup.hpp"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "engine/cpu/values.hpp"

namespace shardscope::engine {
namespace {

std::int64_t table_bytes() {
  const char* mib = std::getenv("SHARDSCOPE_BENCH_MIB");
  return (mib != nullptr ? std::max(std::atoll(mib), 64LL) : 2048LL) << 20;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// One line of the summary.
struct Line {
  std::string name;
  double limit_gb_per_s;
  double ours_gb_per_s;
  double share;
  double target;
};
std::vector<Line>& summary() {
  static std::vector<Line> lines;
  return lines;
}

}  // namespace

HugeMemory allocated(std::int64_t bytes) {
  auto memory = HugeMemory::allocate(bytes, "benchmark");
  if (!memory) {
    fmt::print(stderr, "{}\n", to_string(memory.error()));
    std::exit(exit_code(memory.error().kind));
  }
  return std::move(*memory);
}

double seconds_of(const std::function<void()>& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

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

Fixture::Fixture()
    : table(allocated(table_bytes())),
      state(allocated(rows() * 4)),
      gradients(allocated(kIds * kRowBytes)),
      out(allocated(kIds * kRowBytes)),
      rows_of{ids(IdDistributionKind::uniform), ids(IdDistributionKind::zipf)} {
  std::fill_n(table.as<float>(), rows() * kWidth, 0.5F);
  std::fill_n(gradients.as<float>(), kIds * kWidth, 0.25F);
  std::fill_n(out.as<float>(), kIds * kWidth, 0.0F);
}

std::int64_t Fixture::rows() const {
  return table_bytes() / kRowBytes;
}

std::vector<std::int32_t> Fixture::ids(IdDistributionKind kind) const {
  IdDistribution distribution;
  distribution.kind = kind;
  distribution.alpha = 1.1;
  const auto sampler = RowSampler::make(distribution, rows(), 1, 0, "bench");
  Draws draws(DrawKey{.seed = 1});
  std::vector<std::int32_t> drawn(static_cast<std::size_t>(kIds));
  for (std::int32_t& id : drawn) id = static_cast<std::int32_t>((*sampler)(draws));
  return drawn;
}

Fixture& fixture() {
  static Fixture made;
  return made;
}

void fill_table(DType type) {
  static DType present = DType::fp32;
  if (std::exchange(present, type) == type) return;
  const std::int64_t count = fixture().rows() * kWidth;
  with_value_type(type, [&](auto value) {
    using Value = decltype(value);
    std::fill_n(fixture().table.as<Value>(), count, from_float<Value>(0.5F));
  });
}

std::vector<std::int32_t> bag_lengths() {
  return std::vector<std::int32_t>(static_cast<std::size_t>(kBags), kHotness);
}

double copy_seconds() {
  return seconds_of([] {
    std::memcpy(fixture().out.data(), fixture().gradients.data(),
                static_cast<std::size_t>(kIds * kRowBytes));
    benchmark::ClobberMemory();
  });
}

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
  summary().push_back(line);
}

void print_summary() {
  fmt::print("\n{:<76} {:>10} {:>9} {:>7} {:>7}\n", "kernel", "limit GB/s", "ours GB/s", "share",
             "target");
  for (const Line& line : summary()) {
    fmt::print("{:<76} {:>10.1f} {:>9.1f} {:>7.2f} {:>7.2f}\n", line.name, line.limit_gb_per_s,
               line.ours_gb_per_s, line.share, line.target);
  }
}

}  // namespace shardscope::engine
