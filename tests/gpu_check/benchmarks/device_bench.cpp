#include "tests/gpu_check/benchmarks/device_bench.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace shardscope::engine::testing {
namespace {

constexpr int kRounds = 20;
constexpr std::int64_t kMostTableBytes = std::int64_t{8} << 30;

}  // namespace

std::unique_ptr<DeviceBench> DeviceBench::open(const cuda::PluginTable& plugin, bool graphs) {
  auto stream =
      cuda::CudaStream::create(plugin.runtime, 0, "benchmark", cuda::HostTasks::queued, graphs);
  if (!stream) {
    fmt::print("  {}\n", to_string(stream.error()));
    return nullptr;
  }
  std::unique_ptr<DeviceBench> bench(new DeviceBench(plugin, std::move(*stream)));
  return bench->prepare() ? std::move(bench) : nullptr;
}

bool DeviceBench::prepare() {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  plugin_.runtime.memory(&free_bytes, &total);
  table_bytes_ = std::min(kMostTableBytes, static_cast<std::int64_t>(free_bytes) / 2);
  table_bytes_ -= table_bytes_ % (kBenchDim * 4);
  table_ = allocate(table_bytes_);
  out_ = allocate(kBags * kBenchDim * 4);
  lengths_ = allocate(kBags * 4);
  if (table_ == nullptr || out_ == nullptr || lengths_ == nullptr) return false;
  std::fill_n(reinterpret_cast<std::int32_t*>(lengths_), kBags, static_cast<std::int32_t>(kBagIds));
  clear(table_, table_bytes_);
  return true;
}

std::int64_t DeviceBench::trained_rows() const {
  return std::min(table_bytes_ / (kBenchDim * 4), kMostRows);
}

void DeviceBench::clear(std::byte* memory, std::int64_t bytes) {
  const FillZero zero{memory, bytes};
  ops_->fill_zero(*stream_, {&zero, 1});
}

void DeviceBench::copy(std::int64_t bytes) {
  stream_->check(plugin_.runtime.copy_async(table_ + bytes, table_, static_cast<std::size_t>(bytes),
                                            stream_->native()),
                 "cudaMemcpyAsync");
}

std::byte* DeviceBench::allocate(std::int64_t bytes) {
  auto memory = cuda::DeviceMemory::allocate(plugin_.runtime, 0, bytes, "benchmark");
  if (!memory) {
    fmt::print("  {}\n", to_string(memory.error()));
    return nullptr;
  }
  return memory_.emplace_back(std::move(*memory)).data();
}

bool DeviceBench::draw_ids(std::int64_t rows, bool skewed) {
  constexpr double kAlpha = 1.1;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::byte*& set : ids_) {
    if (set == nullptr) set = allocate(kBags * kBagIds * 4);
    if (set == nullptr) return false;
    for (std::int64_t n = 0; n < kBags * kBagIds; ++n) {
      // Inverse of a Zipf law's continuous distribution.
      const double u = uniform(random);
      const double tail = std::pow(static_cast<double>(rows), 1 - kAlpha);
      const double rank =
          skewed ? std::pow(1 - u * (1 - tail), 1 / (1 - kAlpha)) : u * static_cast<double>(rows);
      reinterpret_cast<std::int32_t*>(set)[n] =
          static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(rank), rows - 1));
    }
  }
  return true;
}

double DeviceBench::speed(double bytes, const std::function<void(int round)>& work) {
  const double ms = milliseconds(work);
  return ms > 0 ? bytes / (ms * 1e-3) : 0;
}

double DeviceBench::milliseconds(const std::function<void(int round)>& work) {
  const cuda::RuntimeApi& runtime = plugin_.runtime;
  cuda::NativeEvent begin = nullptr;
  cuda::NativeEvent end = nullptr;
  stream_->check(runtime.create_event(&begin), "cudaEventCreate");
  stream_->check(runtime.create_event(&end), "cudaEventCreate");
  if (!stream_->status()) return 0;
  std::vector<float> times;
  for (int round = 0; round < kRounds + kInputSets; ++round) {
    stream_->check(runtime.record_event(begin, stream_->native()), "cudaEventRecord");
    work(round);
    stream_->check(runtime.record_event(end, stream_->native()), "cudaEventRecord");
    stream_->check(runtime.synchronize_event(end), "cudaEventSynchronize");
    float ms = 0;
    stream_->check(runtime.elapsed_ms(&ms, begin, end), "cudaEventElapsedTime");
    if (round >= kInputSets) times.push_back(ms);
  }
  runtime.destroy_event(begin);
  runtime.destroy_event(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace shardscope::engine::testing
