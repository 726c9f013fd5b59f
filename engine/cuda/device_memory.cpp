#include "engine/cuda/device_memory.hpp"

#include <fmt/format.h>

namespace shardscope::engine::cuda {
namespace {

std::string gib_text(std::int64_t bytes) {
  return fmt::format("{:.3f} GiB", static_cast<double>(bytes) / (1 << 30));
}

Error too_little(int device, std::int64_t bytes, std::int64_t free, std::string_view purpose) {
  return {ErrorKind::infeasible,
          fmt::format("{} asked, {} free on GPU {}", gib_text(bytes), gib_text(free), device),
          std::string(purpose), "memory for what the layout's accounting lists",
          "Lower the batch or cap the tables with --rows-cap, or move shards to other ranks"};
}

}  // namespace

Result<DeviceMemory> DeviceMemory::allocate(const RuntimeApi& runtime, int device,
                                            std::int64_t bytes, std::string_view purpose) {
  const auto failed = [&](int error, const char* call) {
    return fail(runtime_error(runtime, error, call, std::string(purpose)));
  };
  if (const int error = runtime.set_device(device); error != kCudaSuccess) {
    return failed(error, "cudaSetDevice");
  }
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (const int error = runtime.memory(&free_bytes, &total_bytes); error != kCudaSuccess) {
    return failed(error, "cudaMemGetInfo");
  }
  // Managed memory could be oversubscribed, and the run would page instead of failing.
  const auto free = static_cast<std::int64_t>(free_bytes);
  if (bytes > free) return fail(too_little(device, bytes, free, purpose));
  void* data = nullptr;
  const int error = runtime.allocate(&data, static_cast<std::size_t>(bytes), device);
  if (error == kCudaOutOfMemory) return fail(too_little(device, bytes, free, purpose));
  if (error != kCudaSuccess) return failed(error, "cudaMallocManaged");
  return DeviceMemory(runtime, static_cast<std::byte*>(data), bytes);
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) runtime_->free(data_);
}

}  // namespace shardscope::engine::cuda
