#pragma once
// Large memory of a rank: aligned, on huge pages where the system has them, zero when fresh.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "layout/result.hpp"

namespace shardscope::engine {

/// Owns one mapping. Movable, not copyable.
class HugeMemory {
 public:
  HugeMemory() = default;

  /// At least `bytes` zero bytes, aligned to 2 MiB where the size reaches that, else to a page.
  /// `purpose` names the memory in the error ("arena of rank 3"). Refused, naming the bytes asked
  /// and the bytes available, when the machine (or its control group) has less left: pages are only
  /// taken when touched, and running out then would end the process.
  [[nodiscard]] static Result<HugeMemory> allocate(std::int64_t bytes, std::string_view purpose);

  HugeMemory(HugeMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HugeMemory& operator=(HugeMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;
  ~HugeMemory();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// The memory as elements of a type.
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  HugeMemory(std::byte* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Bytes that can be allocated and touched now: MemAvailable, or what the control group leaves if
/// that is less. The largest int64 where neither can be read.
[[nodiscard]] std::int64_t available_memory_bytes();

}  // namespace shardscope::engine
