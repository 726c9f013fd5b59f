#include "tests/gpu_check/tracing.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/cuda/plugin.hpp"
#include "profiler/cupti_collector.hpp"
#include "profiler/forgetting_sink.hpp"
#include "tests/gpu_check/benchmarks/benchmarks.hpp"

namespace shardscope::engine::testing {
namespace {

constexpr int kTurns = 3;
constexpr double kMostTracingCost = 0.05;

/// Counts what a session would keep.
class CountingSink final : public ForgettingSink {
 public:
  void activities(std::int64_t /*run*/, std::span<const ActivityRecord> batch) override {
    records_ += batch.size();
  }
  [[nodiscard]] std::size_t records() const { return records_; }

 private:
  std::size_t records_ = 0;
};

/// The number that a process of this program prints; 0 where it ended badly.
double number_of(const char* arguments) {
  const std::string command = fmt::format("/proc/{}/exe {}", getpid(), arguments);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[256] = {};
  double number = 0;
  while (pipe != nullptr && std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    if (std::sscanf(line, "step %lf", &number) != 1) std::fputs(line, stdout);
  }
  return number;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int print_step(bool traced) {
  CountingSink sink;
  std::unique_ptr<cupti::Collector> collector;
  if (traced) {
    const Result<const cupti::CuptiApi*> api = cupti::cupti_api();
    if (!api) {
      fmt::print("  {}\n", to_string(api.error()));
      return 1;
    }
    auto started = cupti::Collector::start(**api, sink, {});
    if (!started) {
      fmt::print("  {}\n", to_string(started.error()));
      return 1;
    }
    collector = std::move(*started);
  }
  const Result<const cuda::PluginTable*> plugin = cuda::cuda_plugin();
  if (!plugin) return 1;
  const double ms = trained_step_ms(**plugin);
  if (collector != nullptr) collector->stop();
  if (traced) fmt::print("  {} records\n", sink.records());
  fmt::print("step {}\n", ms);
  return ms > 0 ? 0 : 1;
}

bool compare_tracing() {
  std::vector<double> plain;
  std::vector<double> traced;
  for (int turn = 0; turn < kTurns; ++turn) {
    plain.push_back(number_of("--step"));
    traced.push_back(number_of("--step --cupti"));
    fmt::print("  {:.3f} ms without, {:.3f} ms with CUPTI\n", plain.back(), traced.back());
    std::fflush(stdout);
    if (plain.back() <= 0 || traced.back() <= 0) return false;
  }
  const double cost = median(traced) / median(plain) - 1;
  fmt::print("  CUPTI costs {:.1f} %, target below {:.0f} %\n", 100 * cost, 100 * kMostTracingCost);
  return cost < kMostTracingCost;
}

}  // namespace shardscope::engine::testing
