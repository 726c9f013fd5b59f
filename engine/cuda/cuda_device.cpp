#include "engine/cuda/cuda_device.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/cuda/nccl_fabric.hpp"

namespace shardscope::engine::cuda {

Result<std::shared_ptr<CudaDevice>> CudaDevice::create(const PluginTable& plugin,
                                                       CudaDeviceConfig config) {
  int count = 0;
  const int error = plugin.runtime.device_count(&count);
  if (error != kCudaSuccess) {
    return fail(runtime_error(plugin.runtime, error, "cudaGetDeviceCount", ""));
  }
  for (const int gpu : config.gpus) {
    if (gpu >= 0 && gpu < count) continue;
    return fail({ErrorKind::runtime, fmt::format("there is no GPU {}", gpu), "",
                 fmt::format("one of {} GPUs", count), "See `shardscope doctor`"});
  }
  return std::shared_ptr<CudaDevice>(new CudaDevice(plugin, std::move(config)));
}

Result<std::unique_ptr<Stream>> CudaDevice::stream(std::int32_t rank, StreamMode mode,
                                                   const char* name) {
  const int gpu = gpu_of(rank);
  auto made =
      CudaStream::create(plugin_.runtime, gpu, fmt::format("{}, GPU {}", name, gpu),
                         mode == StreamMode::threaded ? HostTasks::queued : HostTasks::inline_);
  if (!made) return fail(made.error());
  return std::unique_ptr<Stream>(std::move(*made));
}

Result<std::shared_ptr<std::byte>> CudaDevice::allocate(std::int32_t rank, std::int64_t bytes,
                                                        std::string_view purpose) {
  const RuntimeApi& runtime = plugin_.runtime;
  auto memory =
      DeviceMemory::allocate(runtime, gpu_of(rank), std::max<std::int64_t>(bytes, 1), purpose);
  if (!memory) return fail(memory.error());
  const int error = runtime.set(memory->data(), 0, static_cast<std::size_t>(bytes));
  if (error != kCudaSuccess) {
    return fail(runtime_error(runtime, error, "cudaMemset", std::string(purpose)));
  }
  auto owner = std::make_shared<DeviceMemory>(std::move(*memory));
  return std::shared_ptr<std::byte>(owner, owner->data());
}

Status CudaDevice::upload(std::int32_t rank, void* to, const void* from, std::int64_t bytes) {
  const RuntimeApi& runtime = plugin_.runtime;
  int error = runtime.set_device(gpu_of(rank));
  if (error == kCudaSuccess) error = runtime.copy(to, from, static_cast<std::size_t>(bytes));
  if (error == kCudaSuccess) return {};
  return fail(runtime_error(runtime, error, "cudaMemcpy", fmt::format("rank {}", rank)));
}

Result<std::int64_t> CudaDevice::available_bytes() {
  const RuntimeApi& runtime = plugin_.runtime;
  std::int64_t all = 0;
  for (const int gpu : config_.gpus) {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    int error = runtime.set_device(gpu);
    if (error == kCudaSuccess) error = runtime.memory(&free_bytes, &total_bytes);
    if (error != kCudaSuccess) {
      return fail(runtime_error(runtime, error, "cudaMemGetInfo", fmt::format("GPU {}", gpu)));
    }
    all += static_cast<std::int64_t>(free_bytes);
  }
  return all;
}

Result<std::shared_ptr<Fabric>> CudaDevice::fabric(const Topology& topology, std::int32_t channels,
                                                   const FabricOptions& options) {
  const auto gpus = static_cast<std::int32_t>(config_.gpus.size());
  if (topology.ranks() > gpus) {
    return fail({ErrorKind::runtime,
                 fmt::format("{} ranks need {} GPUs, this run has {}", topology.ranks(),
                             topology.ranks(), gpus),
                 "--comm nccl", "a GPU a rank",
                 "Use --comm loopback, which emulates the ranks on one GPU, or fewer ranks"});
  }
  const Result<const NcclApi*> nccl = config_.nccl();
  if (!nccl) return fail(nccl.error());
  const RuntimeApi& runtime = plugin_.runtime;
  NcclPort port;
  port.nccl = *nccl;
  port.ops = ops_.get();
  port.native = [](Stream& stream) { return static_cast<CudaStream&>(stream).native(); };
  port.set_device = [this](std::int32_t rank) { plugin_.runtime.set_device(gpu_of(rank)); };
  port.allocate = [this, &runtime](std::int32_t rank, std::int64_t bytes) -> void* {
    void* memory = nullptr;
    const int error = runtime.allocate(&memory, static_cast<std::size_t>(bytes), gpu_of(rank));
    return error == kCudaSuccess ? memory : nullptr;
  };
  port.free = [&runtime](void* memory) { runtime.free(memory); };
  auto made = NcclFabric::create(topology, channels, options, std::move(port));
  if (!made) return fail(made.error());
  return std::shared_ptr<Fabric>(std::move(*made));
}

}  // namespace shardscope::engine::cuda
