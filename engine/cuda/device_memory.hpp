#pragma once
// Memory of a GPU that a rank's arena stands in. Host tasks reach it too (managed, kept on the
// GPU).

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/cuda/runtime_api.hpp"
#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// Owns one allocation. Movable, not copyable. The runtime must outlive it.
class DeviceMemory {
 public:
  DeviceMemory() = default;

  /// `bytes` bytes on the device. Refused ahead when the device has less free, and when the
  /// allocation fails: the error names the bytes asked, those free, and `purpose` ("arena of rank
  /// 3: weights 12 GiB, ..."), the accounting of what was asked for.
  [[nodiscard]] static Result<DeviceMemory> allocate(const RuntimeApi& runtime, int device,
                                                     std::int64_t bytes, std::string_view purpose);

  DeviceMemory(DeviceMemory&& other) noexcept
      : runtime_(other.runtime_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(runtime_, other.runtime_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  DeviceMemory(const RuntimeApi& runtime, std::byte* data, std::int64_t bytes)
      : runtime_(&runtime), data_(data), bytes_(bytes) {}

  const RuntimeApi* runtime_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace shardscope::engine::cuda
