#include "tests/gpu_check/benchmarks/benchmarks.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "tests/gpu_check/benchmarks/figures.hpp"

namespace shardscope::engine::testing {
namespace {

bool print_backward(DeviceBench& bench, double copy) {
  constexpr double kBackwardTarget = 0.60;
  bool reached = true;
  for (const bool skewed : {false, true}) {
    const double speed = backward_speed(bench, skewed);
    const bool ok = copy > 0 && speed >= kBackwardTarget * copy;
    fmt::print("  {:<28} {:8.1f} GB/s  {:.2f} of the copy{}\n",
               skewed ? "backward, adagrad Zipf 1.1" : "backward, adagrad uniform", speed * 1e-9,
               copy > 0 ? speed / copy : 0,
               skewed ? ""
               : ok   ? ", target 0.60  reached"
                      : ", target 0.60  not reached");
    std::fflush(stdout);
    if (!skewed) reached = ok;
  }
  return reached;
}

/// What launches cost an iteration of 26 tables, a stream with graphs and one without.
bool print_launches(const cuda::PluginTable& plugin) {
  constexpr double kMostOverhead = 0.05;
  bool reached = false;
  for (const bool graphs : {false, true}) {
    const auto bench = DeviceBench::open(plugin, graphs);
    if (bench == nullptr) return false;
    const LaunchFigures launch = many_tables(*bench);
    if (Status status = bench->status(); !status) {
      fmt::print("  {}\n", to_string(status.error()));
      return false;
    }
    reached = launch.overhead() < kMostOverhead;
    fmt::print("  {:<28} {:8.3f} ms, {:.3f} ms on the GPU, launches cost {:.1f} %{}\n",
               graphs ? "26 tables, a graph" : "26 tables, a list a stage", launch.iteration_ms,
               launch.gpu_ms, 100 * launch.overhead(),
               !graphs   ? ""
               : reached ? ", target below 5 %  reached"
                         : ", target below 5 %  not reached");
    std::fflush(stdout);
  }
  return reached;
}

void print_times(DeviceBench& bench) {
  fmt::print("  {:<28} {:8.3f} ms\n", "forward, backward, update", step_ms(bench));
  std::fflush(stdout);
}

struct Target {
  const char* name;
  DType type;
  bool skewed;
  double ratio;
};

constexpr Target kTargets[] = {{"gather-pool fp32 uniform", DType::fp32, false, 0.85},
                               {"gather-pool bf16 uniform", DType::bf16, false, 0.75},
                               {"gather-pool fp32 Zipf 1.1", DType::fp32, true, 0.85}};

}  // namespace

double trained_step_ms(const cuda::PluginTable& plugin) {
  const auto bench = DeviceBench::open(plugin);
  return bench == nullptr ? 0 : step_ms(*bench);
}

bool run_benchmarks(const cuda::PluginTable& plugin) {
  const auto bench = DeviceBench::open(plugin);
  if (bench == nullptr) return false;
  const double copy = copy_speed(*bench);
  fmt::print("  {:<28} {:8.1f} GB/s\n", "copy within the device", copy * 1e-9);
  bool reached = true;
  for (const Target& target : kTargets) {
    const double speed = gather_speed(*bench, target.type, target.skewed);
    const bool ok = copy > 0 && speed >= target.ratio * copy;
    fmt::print("  {:<28} {:8.1f} GB/s  {:.2f} of the copy, target {:.2f}  {}\n", target.name,
               speed * 1e-9, copy > 0 ? speed / copy : 0, target.ratio,
               ok ? "reached" : "not reached");
    std::fflush(stdout);
    reached = reached && ok;
  }
  reached = print_backward(*bench, copy) && reached;
  reached = print_launches(plugin) && reached;
  print_times(*bench);
  const auto [encode, decode] = codec_speed(*bench);
  constexpr double kCodecTarget = 500e9;
  for (const auto& [name, speed] : {std::pair("codec fixed encode 64 MiB", encode),
                                    std::pair("codec fixed decode 64 MiB", decode)}) {
    fmt::print("  {:<28} {:8.1f} GB/s of values, target {:.0f}  {}\n", name, speed * 1e-9,
               kCodecTarget * 1e-9, speed >= kCodecTarget ? "reached" : "not reached");
    reached = reached && speed >= kCodecTarget;
  }
  if (Status status = bench->status(); !status) {
    fmt::print("  {}\n", to_string(status.error()));
    return false;
  }
  return reached;
}

}  // namespace shardscope::engine::testing
