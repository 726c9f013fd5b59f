#include "engine/cuda/capabilities.hpp"

#include <fmt/format.h>

#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/library.hpp"
#include "engine/cuda/nccl_api.hpp"
#include "engine/cuda/plugin.hpp"

namespace shardscope::engine::cuda {
namespace {

GpuCapability refused(const std::string& name, const Error& error) {
  return {name, false, error.what, error.cure + "."};
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The GPUs the runtime sees, or why it sees none.
GpuCapability devices(const RuntimeApi& runtime, int& count) {
  int driver = 0;
  int built_for = 0;
  runtime.driver_version(&driver);
  runtime.runtime_version(&built_for);
  const int error = runtime.device_count(&count);
  if (error == kCudaSuccess && count > 0) {
    std::string names;
    for (int device = 0; device < count; ++device) {
      DeviceInfo info;
      runtime.device_info(device, &info);
      names += fmt::format("{}{}", device > 0 ? ", " : "", info.name);
    }
    return {"GPU", true,
            fmt::format("{} ({}), driver for CUDA {}", count, names, version_text(driver)), ""};
  }
  count = 0;
  if (driver == 0) {
    return {"GPU", false, "no NVIDIA driver is loaded",
            "Load the NVIDIA driver (nvidia-smi then lists the GPUs)."};
  }
  if (error == kCudaDriverTooOld || driver < built_for) {
    return {"GPU", false,
            fmt::format("the driver is for CUDA {}, the plugin was built with {}",
                        version_text(driver), version_text(built_for)),
            fmt::format("Update the driver to one for CUDA {}.", version_text(built_for))};
  }
  const Error failure = runtime_error(runtime, error, "cudaGetDeviceCount", "");
  return {"GPU", false, error == kCudaSuccess ? "the driver shows no GPU" : failure.what,
          "Make a GPU visible to this process (CUDA_VISIBLE_DEVICES)."};
}

GpuCapability several(int count) {
  return {"several GPUs", count > 1, fmt::format("{} GPU{}", count, count == 1 ? "" : "s"),
          count > 1 ? "" : "With fewer GPUs than ranks, --comm loopback emulates the others."};
}

GpuCapability peer_access(const RuntimeApi& runtime, int count) {
  int pairs = 0;
  for (int device = 0; device < count; ++device) {
    for (int peer = 0; peer < count; ++peer) {
      int can = 0;
      if (peer != device && runtime.can_access_peer(&can, device, peer) == kCudaSuccess) {
        pairs += can;
      }
    }
  }
  const int wanted = count * (count - 1);
  const bool all = wanted > 0 && pairs == wanted;
  return {"peer access", all, fmt::format("{} of {} pairs of GPUs", pairs, wanted),
          all ? "" : "Direct writes between GPUs need NVLink or PCIe peer access."};
}

GpuCapability nccl() {
  const Result<const NcclApi*> api = nccl_api();
  if (!api) return refused("NCCL", api.error());
  int version = 0;
  (*api)->get_version(&version);
  return {"NCCL", true,
          fmt::format("version {}.{}.{}", version / 10000, version / 100 % 100, version % 100), ""};
}

GpuCapability cublas() {
  const Result<const CublasApi*> api = cublas_api();
  if (!api) return refused("cuBLAS", api.error());
  int version[3] = {};
  for (int part = 0; part < 3; ++part) (*api)->get_property(part, &version[part]);
  return {"cuBLAS", true, fmt::format("version {}.{}.{}", version[0], version[1], version[2]), ""};
}

GpuCapability cupti() {
  const Result<Library> library = Library::open(
      {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13"}, "traces of GPU activity",
      "Install the CUPTI of CUDA 13 (in the toolkit); runs go on untraced without it");
  if (!library) return refused("CUPTI", library.error());
  int (*get_version)(unsigned*) = nullptr;
  if (Status status = library->load(get_version, "cuptiGetVersion"); !status) {
    return refused("CUPTI", status.error());
  }
  unsigned version = 0;
  get_version(&version);
  return {"CUPTI", true, fmt::format("API version {}", version), ""};
}

}  // namespace

GpuCapability gpu_capability_of(const Result<const PluginTable*>& plugin) {
  if (!plugin) return refused("CUDA plugin", plugin.error());
  int count = 0;
  return devices((*plugin)->runtime, count);
}

std::vector<GpuCapability> gpu_capabilities_of(const Result<const PluginTable*>& plugin) {
  std::vector<GpuCapability> found;
  int count = 0;
  if (!plugin) {
    found.push_back(refused("CUDA plugin", plugin.error()));
  } else {
    found.push_back({"CUDA plugin", true,
                     fmt::format("for {}, build {}", (*plugin)->architectures, (*plugin)->build_id),
                     ""});
    const RuntimeApi& runtime = (*plugin)->runtime;
    found.push_back(devices(runtime, count));
    found.push_back(several(count));
    found.push_back(peer_access(runtime, count));
  }
  found.push_back(nccl());
  found.push_back(cublas());
  found.push_back(cupti());
  return found;
}

std::vector<GpuCapability> gpu_capabilities() {
  return gpu_capabilities_of(cuda_plugin());
}

}  // namespace shardscope::engine::cuda
