#include "engine/cuda/cuda_device.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"

namespace shardscope::engine::cuda {

Result<std::shared_ptr<CudaDevice>> CudaDevice::create(const PluginTable& plugin, int gpu) {
  int count = 0;
  const int error = plugin.runtime.device_count(&count);
  if (error != kCudaSuccess) {
    return fail(runtime_error(plugin.runtime, error, "cudaGetDeviceCount", ""));
  }
  if (gpu >= count) {
    return fail({ErrorKind::usage, fmt::format("there is no GPU {}", gpu), "",
                 fmt::format("one of {} GPUs", count), "See `shardscope doctor`"});
  }
  return std::shared_ptr<CudaDevice>(new CudaDevice(plugin, gpu));
}

Result<std::unique_ptr<Stream>> CudaDevice::stream(StreamMode mode, const char* name) {
  auto made =
      CudaStream::create(plugin_.runtime, gpu_, fmt::format("{}, GPU {}", name, gpu_),
                         mode == StreamMode::threaded ? HostTasks::queued : HostTasks::inline_);
  if (!made) return fail(made.error());
  return std::unique_ptr<Stream>(std::move(*made));
}

Result<std::shared_ptr<std::byte>> CudaDevice::allocate(std::int64_t bytes,
                                                        std::string_view purpose) {
  auto memory = DeviceMemory::allocate(plugin_.runtime, gpu_, bytes, purpose);
  if (!memory) return fail(memory.error());
  std::memset(memory->data(), 0, static_cast<std::size_t>(bytes));
  auto owner = std::make_shared<DeviceMemory>(std::move(*memory));
  return std::shared_ptr<std::byte>(owner, owner->data());
}

}  // namespace shardscope::engine::cuda
