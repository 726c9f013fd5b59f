#pragma once
// Exchanges between ranks that share a GPU, by copies and sums on it.

#include <memory>
#include <mutex>

#include "engine/comm/mover.hpp"
#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/device.hpp"

namespace shardscope::engine::cuda {

class CudaMover final : public Mover {
 public:
  /// All outlive the mover.
  CudaMover(const RuntimeApi& runtime, int gpu, Ops& ops)
      : runtime_(runtime), gpu_(gpu), ops_(ops) {}

  [[nodiscard]] Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) override;
  [[nodiscard]] Status sum(std::byte* out, const std::byte* const* parts, std::int32_t parts_count,
                           std::int64_t elements, DType dtype) override;

 private:
  /// Makes the stream at the first call. With the mutex held.
  [[nodiscard]] Status open();

  const RuntimeApi& runtime_;
  int gpu_;
  Ops& ops_;
  std::mutex mutex_;
  DeviceMemory sums_;
  std::unique_ptr<CudaStream> stream_;
};

}  // namespace shardscope::engine::cuda
