#pragma once
// The memory of one rank: one block, carved once by the buffer list of layout/buffers.hpp.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cpu/memory.hpp"
#include "layout/buffers.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

class Device;

/// Owns the block, on huge pages where the system has them. Every buffer starts on kBufferAlignment
/// and is zero at first. Under the address sanitizer what lies behind a buffer is poisoned, so that
/// an overrun is seen.
class Arena {
 public:
  /// In the device's memory, or the host's without one. Fails with what was asked and what the
  /// machine has left.
  [[nodiscard]] static Result<std::unique_ptr<Arena>> create(std::int32_t rank,
                                                             const std::vector<BufferSpec>& list,
                                                             Device* device = nullptr);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The buffer of that name and table. A name that the list does not have is a bug.
  template <class T = std::byte>
  [[nodiscard]] T* get(std::string_view name, std::int32_t table = -1) {
    return reinterpret_cast<T*>(find(name, table).data);
  }
  /// Its size in bytes.
  [[nodiscard]] std::int64_t bytes(std::string_view name, std::int32_t table = -1) const;
  [[nodiscard]] bool has(std::string_view name, std::int32_t table = -1) const;

  /// Bytes handed out so far, each buffer once, alignment included.
  [[nodiscard]] std::int64_t used_bytes() const { return used_bytes_; }

 private:
  struct Buffer {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    bool handed_out = false;
  };

  Arena() = default;
  Buffer& find(std::string_view name, std::int32_t table);

  std::map<std::pair<std::int32_t, std::string>, Buffer, std::less<>> buffers_;
  HugeMemory memory_;
  std::shared_ptr<std::byte> device_memory_;
  std::int64_t used_bytes_ = 0;
};

}  // namespace shardscope::engine
