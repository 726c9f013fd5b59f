#include "app/gpu_access.hpp"

#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "app/values.hpp"
#include "engine/cuda/capabilities.hpp"
#include "engine/cuda/cuda_device.hpp"
#include "engine/cuda/plugin.hpp"

namespace shardscope::app {
namespace {

/// GPUs of the run: one for all ranks, or one a rank as far as there are.
std::vector<int> chosen_gpus(const RunOptions& options, const Topology& topology, int count) {
  const int wanted = options.comm == "nccl" ? std::min<int>(count, topology.ranks()) : 1;
  std::vector<int> gpus(static_cast<std::size_t>(wanted));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

Error missing(const engine::cuda::GpuCapability& capability) {
  return {ErrorKind::runtime, capability.name + ": " + capability.finding, "--backend cuda",
          "what 'shardscope doctor' lists", capability.help + " Without it: --backend cpu"};
}

}  // namespace

const GpuAccess& GpuAccess::here() {
  static const GpuAccess access{engine::cuda::cuda_plugin, engine::cuda::nccl_api,
                                engine::cuda::cublas_api, cupti::cupti_api};
  return access;
}

const GpuAccess& gpu_access(const RunOptions& options) {
  return options.gpu != nullptr ? *options.gpu : GpuAccess::here();
}

Result<std::shared_ptr<engine::Device>> open_device(const RunOptions& options,
                                                    const Topology& topology) {
  if (options.backend != "cuda") return std::shared_ptr<engine::Device>();
  const GpuAccess& access = gpu_access(options);
  const Result<const engine::cuda::PluginTable*> plugin = access.plugin();
  const engine::cuda::GpuCapability gpu = engine::cuda::gpu_capability_of(plugin);
  if (!gpu.available) return fail(missing(gpu));
  int count = 0;
  (*plugin)->runtime.device_count(&count);
  engine::cuda::CudaDeviceConfig config;
  config.gpus = chosen_gpus(options, topology, count);
  config.nccl = access.nccl;
  config.cublas = access.cublas;
  const Result<engine::cuda::DensePrecision> dense = parse_dense_math(options.dense_math);
  if (!dense) return fail(dense.error());
  config.dense = *dense;
  config.graphs = options.graphs;
  auto device = engine::cuda::CudaDevice::create(**plugin, std::move(config));
  if (!device) return fail(device.error());
  return std::shared_ptr<engine::Device>(std::move(*device));
}

std::vector<GpuInfo> gpus_of(const RunOptions& options, const Topology& topology) {
  std::vector<GpuInfo> found;
  if (options.backend != "cuda") return found;
  const Result<const engine::cuda::PluginTable*> plugin = gpu_access(options).plugin();
  int count = 0;
  if (!plugin || (*plugin)->runtime.device_count(&count) != engine::cuda::kCudaSuccess)
    return found;
  for (const int gpu : chosen_gpus(options, topology, count)) {
    engine::cuda::DeviceInfo info;
    if ((*plugin)->runtime.device_info(gpu, &info) != engine::cuda::kCudaSuccess) continue;
    found.push_back({gpu, info.name, info.uuid, info.bus, info.memory_bytes,
                     info.memory_bytes_per_s, info.l2_bytes, info.clock_hz, info.multiprocessors,
                     info.compute_major, info.compute_minor});
  }
  return found;
}

}  // namespace shardscope::app
