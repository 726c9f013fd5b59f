#pragma once
// Device memory of one operation's launches: it lasts until they have run.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/cuda/cuda_stream.hpp"

namespace shardscope::engine::cuda {

class WorkMemory {
 public:
  /// The stream must be a CudaStream.
  explicit WorkMemory(Stream& stream) : stream_(static_cast<CudaStream&>(stream)) {}
  /// The memory goes when the work has run.
  ~WorkMemory() {
    for (void* memory : memory_) stream_.free_temporary(memory);
  }
  WorkMemory(const WorkMemory&) = delete;
  WorkMemory& operator=(const WorkMemory&) = delete;

  /// `count` elements that hold nothing yet.
  template <class T>
  [[nodiscard]] T* scratch(std::int64_t count) {
    memory_.push_back(stream_.temporary(count * static_cast<std::int64_t>(sizeof(T))));
    return static_cast<T*>(memory_.back());
  }

  /// A copy of the values in device memory.
  template <class T>
  [[nodiscard]] T* upload(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto count = static_cast<std::int64_t>(values.size());
    T* to = scratch<T>(count);
    stream_.upload(to, values.data(), count * static_cast<std::int64_t>(sizeof(T)));
    return to;
  }

  void clear(void* to, std::int64_t bytes, int value = 0) { stream_.clear(to, bytes, value); }
  /// See CudaStream.
  [[nodiscard]] std::int64_t room(std::int64_t count) { return stream_.room(count); }
  [[nodiscard]] bool is_padded() const { return stream_.is_padded(); }

 protected:
  /// Whether work with these values is to be enqueued. Nothing runs after a failure: the memory may
  /// be missing.
  template <class... Values>
  [[nodiscard]] bool runs(const Values&... values) {
    return stream_.status() && stream_.call(values...);
  }
  [[nodiscard]] CudaStream& stream() const { return stream_; }

 private:
  CudaStream& stream_;
  std::vector<void*> memory_;
};

}  // namespace shardscope::engine::cuda
