#pragma once
// What the figures share: a stream of the GPU, a table, sets of ids, and a clock.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/cuda/plugin_table.hpp"

namespace shardscope::engine::testing {

inline constexpr std::int32_t kBenchDim = 128;
inline constexpr std::int64_t kBagIds = 20;
inline constexpr std::int64_t kBags = 65536;
inline constexpr int kInputSets = 4;
/// Rows of a table that is trained: their state stays small.
inline constexpr std::int64_t kMostRows = std::int64_t{8} << 20;

class DeviceBench {
 public:
  /// Null after a failure, which is printed. The plugin outlives it.
  [[nodiscard]] static std::unique_ptr<DeviceBench> open(const cuda::PluginTable& plugin,
                                                         bool graphs = false);

  [[nodiscard]] const cuda::PluginTable& plugin() const { return plugin_; }
  [[nodiscard]] Ops& ops() { return *ops_; }
  [[nodiscard]] cuda::CudaStream& stream() { return *stream_; }
  [[nodiscard]] Status status() const { return stream_->status(); }
  /// At most 8 GiB, half of what is free.
  [[nodiscard]] std::byte* table() { return table_; }
  [[nodiscard]] std::int64_t table_bytes() const { return table_bytes_; }
  /// Rows of fp32 that are trained.
  [[nodiscard]] std::int64_t trained_rows() const;
  /// Bags x dim fp32.
  [[nodiscard]] std::byte* out() { return out_; }
  [[nodiscard]] const std::int32_t* lengths() const {
    return reinterpret_cast<const std::int32_t*>(lengths_);
  }
  /// Int32 ids of all bags below `rows`, uniform or by a Zipf law of 1.1; several sets.
  [[nodiscard]] bool draw_ids(std::int64_t rows, bool skewed);
  [[nodiscard]] std::byte* ids(int round) {
    return ids_[static_cast<std::size_t>(round % kInputSets)];
  }

  /// Null after a failure, which is printed. Lasts as long as the bench.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  void clear(std::byte* memory, std::int64_t bytes);
  /// Enqueues a copy within the table.
  void copy(std::int64_t bytes);
  void finish() { stream_->synchronize(stream_->record()); }
  /// Median of the rounds, timed by events; the first rounds warm up. 0 after a failure.
  [[nodiscard]] double milliseconds(const std::function<void(int round)>& work);
  /// Bytes a second of work that moves that many.
  [[nodiscard]] double speed(double bytes, const std::function<void(int round)>& work);

 private:
  DeviceBench(const cuda::PluginTable& plugin, std::unique_ptr<cuda::CudaStream> stream)
      : plugin_(plugin), ops_(plugin.make_ops()), stream_(std::move(stream)) {}
  [[nodiscard]] bool prepare();

  const cuda::PluginTable& plugin_;
  std::unique_ptr<Ops> ops_;
  std::vector<cuda::DeviceMemory> memory_;
  std::unique_ptr<cuda::CudaStream> stream_;  ///< goes before the memory it uses
  std::int64_t table_bytes_ = 0;
  std::byte* table_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* lengths_ = nullptr;
  std::byte* ids_[kInputSets] = {};
};

}  // namespace shardscope::engine::testing
