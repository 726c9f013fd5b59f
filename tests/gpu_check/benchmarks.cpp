#include "tests/gpu_check/benchmarks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"

namespace shardscope::engine::testing {
namespace {

using cuda::CudaStream;
using cuda::DeviceMemory;

constexpr std::int32_t kDim = 128;
constexpr std::int64_t kBagIds = 20;
constexpr std::int64_t kBags = 65536;
constexpr int kRounds = 20;
constexpr int kInputSets = 4;
constexpr std::int64_t kMostTableBytes = std::int64_t{8} << 30;

/// What the figures share: a stream, a table and input sets.
class SpeedCheck {
 public:
  SpeedCheck(const cuda::PluginTable& plugin, std::unique_ptr<CudaStream> stream)
      : plugin_(plugin), ops_(plugin.make_ops()), stream_(std::move(stream)) {}

  [[nodiscard]] bool prepare() {
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    plugin_.runtime.memory(&free_bytes, &total);
    table_bytes_ = std::min(kMostTableBytes, static_cast<std::int64_t>(free_bytes) / 2);
    table_bytes_ -= table_bytes_ % (kDim * 4);
    table_ = allocate(table_bytes_);
    out_ = allocate(kBags * kDim * 4);
    lengths_ = allocate(kBags * 4);
    if (table_ == nullptr || out_ == nullptr || lengths_ == nullptr) return false;
    std::fill_n(reinterpret_cast<std::int32_t*>(lengths_), kBags,
                static_cast<std::int32_t>(kBagIds));
    const FillZero zero{table_, table_bytes_};
    ops_->fill_zero(*stream_, {&zero, 1});
    return true;
  }

  /// Bytes a second of a copy within the device, both directions counted.
  [[nodiscard]] double copy_speed() {
    const std::int64_t half = table_bytes_ / 2;
    return speed(2.0 * static_cast<double>(half), [&](int) {
      stream_->check(plugin_.runtime.copy_async(table_ + half, table_,
                                                static_cast<std::size_t>(half), stream_->native()),
                     "cudaMemcpyAsync");
    });
  }

  [[nodiscard]] double gather_speed(DType type, bool skewed) {
    const std::int64_t rows = table_bytes_ / (kDim * bytes_of(type));
    if (!draw_ids(rows, skewed)) return 0;
    const double ids = static_cast<double>(kBags * kBagIds);
    const double bytes = ids * (kDim * static_cast<double>(bytes_of(type)) + 4) +
                         static_cast<double>(kBags) * (kDim * 4 + 4);
    return speed(bytes, [&](int round) {
      pool_.rows = table_;
      pool_.row_type = type;
      pool_.row_stride = pool_.width = kDim;
      pool_.bags = kBags;
      pool_.lengths = reinterpret_cast<const std::int32_t*>(lengths_);
      pool_.ids = ids_[static_cast<std::size_t>(round % kInputSets)];
      pool_.out = out_;
      pool_.out_stride = kDim;
      ops_->gather_pool(*stream_, {&pool_, 1});
    });
  }

  [[nodiscard]] Status status() const { return stream_->status(); }

 private:
  std::byte* allocate(std::int64_t bytes) {
    auto memory = DeviceMemory::allocate(plugin_.runtime, 0, bytes, "benchmark");
    if (!memory) {
      fmt::print("  {}\n", to_string(memory.error()));
      return nullptr;
    }
    return memory_.emplace_back(std::move(*memory)).data();
  }

  bool draw_ids(std::int64_t rows, bool skewed) {
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

  /// Median of the rounds' bytes a second, timed by events; the first rounds warm up.
  double speed(double bytes, const std::function<void(int round)>& work) {
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
    return bytes / (times[times.size() / 2] * 1e-3);
  }

  const cuda::PluginTable& plugin_;
  std::unique_ptr<Ops> ops_;
  std::vector<DeviceMemory> memory_;
  std::unique_ptr<CudaStream> stream_;  ///< goes before the memory it uses
  std::int64_t table_bytes_ = 0;
  std::byte* table_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* lengths_ = nullptr;
  std::byte* ids_[kInputSets] = {};
  GatherPool pool_;
};

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

bool run_benchmarks(const cuda::PluginTable& plugin) {
  auto stream = CudaStream::create(plugin.runtime, 0, "benchmark", cuda::HostTasks::queued);
  if (!stream) {
    fmt::print("  {}\n", to_string(stream.error()));
    return false;
  }
  SpeedCheck check(plugin, std::move(*stream));
  if (!check.prepare()) return false;
  const double copy = check.copy_speed();
  fmt::print("  {:<28} {:8.1f} GB/s\n", "copy within the device", copy * 1e-9);
  bool reached = true;
  for (const Target& target : kTargets) {
    const double speed = check.gather_speed(target.type, target.skewed);
    const bool ok = copy > 0 && speed >= target.ratio * copy;
    fmt::print("  {:<28} {:8.1f} GB/s  {:.2f} of the copy, target {:.2f}  {}\n", target.name,
               speed * 1e-9, copy > 0 ? speed / copy : 0, target.ratio,
               ok ? "reached" : "not reached");
    std::fflush(stdout);
    reached = reached && ok;
  }
  if (Status status = check.status(); !status) {
    fmt::print("  {}\n", to_string(status.error()));
    return false;
  }
  return reached;
}

}  // namespace shardscope::engine::testing
