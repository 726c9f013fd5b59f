#include "engine/cuda/cuda_device.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/cuda/nccl_fabric.hpp"
#include "engine/cuda/scratch_bytes.hpp"

namespace shardscope::engine::cuda {

namespace {

/// A handle of cuBLAS on one stream, and what computes with it.
struct CublasOnStream {
  CublasOnStream(const CublasApi& api, DeviceMemory memory) : workspace(std::move(memory)) {
    use.api = &api;
  }
  CublasOnStream(const CublasOnStream&) = delete;
  CublasOnStream& operator=(const CublasOnStream&) = delete;
  ~CublasOnStream() {
    if (use.handle != nullptr) use.api->destroy(use.handle);
  }

  [[nodiscard]] Status open(const CudaStream& stream) {
    stream.runtime().set_device(stream.device());
    const char* call = "cublasCreate";
    int status = use.api->create(&use.handle);
    if (status == kCublasSuccess) {
      call = "cublasSetStream";
      status = use.api->set_stream(use.handle, stream.native());
    }
    if (status == kCublasSuccess) {
      call = "cublasSetWorkspace";
      status = use.api->set_workspace(use.handle, workspace.data(),
                                      static_cast<std::size_t>(workspace.bytes()));
    }
    if (status == kCublasSuccess) return {};
    return fail({ErrorKind::runtime,
                 fmt::format("{} failed with {}", call, use.api->status_text(status)),
                 fmt::format("GPU {}", stream.device()), "",
                 "See `shardscope doctor`, or compute on the CPU with --dense-math host"});
  }

  DeviceMemory workspace;
  CublasUse use;
  std::unique_ptr<DenseMath> math;
};

}  // namespace

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
  auto made = CudaStream::create(
      plugin_.runtime, gpu, fmt::format("{}, GPU {}", name, gpu),
      mode == StreamMode::threaded ? HostTasks::queued : HostTasks::inline_, config_.graphs);
  if (!made) return fail(made.error());
  return std::unique_ptr<Stream>(std::move(*made));
}

Result<std::shared_ptr<DenseMath>> CudaDevice::dense_math(std::int32_t rank, Stream& stream) {
  if (config_.dense == DensePrecision::host) return std::shared_ptr<DenseMath>();
  const Result<const CublasApi*> api = config_.cublas();
  if (!api) return fail(api.error());
  auto workspace = DeviceMemory::allocate(plugin_.runtime, gpu_of(rank), kCublasWorkspaceBytes,
                                          "workspace of cuBLAS");
  if (!workspace) return fail(workspace.error());
  auto& on = static_cast<CudaStream&>(stream);
  auto cublas = std::make_shared<CublasOnStream>(**api, std::move(*workspace));
  if (Status status = cublas->open(on); !status) return fail(status.error());
  cublas->use.compute =
      config_.dense == DensePrecision::bf16 ? kCublasComputeBf16 : kCublasComputeTf32;
  cublas->math.reset(plugin_.make_dense_math(on, cublas->use));
  return std::shared_ptr<DenseMath>(cublas, cublas->math.get());
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

std::int64_t CudaDevice::scratch_bytes(const Workload& workload,
                                       std::span<const BufferSpec> buffers) const {
  const bool dense = config_.dense != DensePrecision::host;
  return device_scratch_bytes(workload, buffers, dense, config_.graphs);
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

bool CudaDevice::open_peer_access(const Topology& topology) {
  const RuntimeApi& runtime = plugin_.runtime;
  for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
    for (std::int32_t peer = 0; peer < topology.ranks(); ++peer) {
      if (topology.link(rank, peer) != LinkClass::intra) continue;
      int can = 0;
      int error = runtime.can_access_peer(&can, gpu_of(rank), gpu_of(peer));
      if (error == kCudaSuccess && can == 0) return false;
      if (error == kCudaSuccess) error = runtime.set_device(gpu_of(rank));
      if (error == kCudaSuccess) error = runtime.enable_peer_access(gpu_of(peer));
      if (error != kCudaSuccess && error != kCudaPeerAccessOpen) return false;
    }
  }
  return true;
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
  port.peer_access = open_peer_access(topology);
  if (config_.graphs) {
    port.in_graph = [](const Stream& stream) {
      return static_cast<const CudaStream&>(stream).in_graph();
    };
    port.call = [](Stream& stream, std::span<const std::int64_t> values) {
      return static_cast<CudaStream&>(stream).call_values(values);
    };
  }
  auto made = NcclFabric::create(topology, channels, options, std::move(port));
  if (!made) return fail(made.error());
  return std::shared_ptr<Fabric>(std::move(*made));
}

}  // namespace shardscope::engine::cuda
