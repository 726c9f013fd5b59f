#pragma once
// What this machine can do with GPUs, one answer a capability.

#include <string>
#include <vector>

#include "engine/cuda/plugin_table.hpp"
#include "layout/result.hpp"

namespace shardscope::engine::cuda {

struct GpuCapability {
  std::string
      name;  ///< "CUDA plugin", "GPU", "several GPUs", "peer access", "NCCL", "cuBLAS", "CUPTI"
  bool available = false;
  std::string finding;  ///< what there is, or why not
  std::string help;     ///< what would make it available; empty when it is
};

/// Asks plugin, runtime, driver and libraries. Starts nothing on a GPU but contexts.
[[nodiscard]] std::vector<GpuCapability> gpu_capabilities();

/// The GPUs a plugin sees, or of the plugin itself why there is none. Opens nothing else.
[[nodiscard]] GpuCapability gpu_capability_of(const Result<const PluginTable*>& plugin);

/// The same of a plugin that is open, or of the reason why none is.
[[nodiscard]] std::vector<GpuCapability> gpu_capabilities_of(
    const Result<const PluginTable*>& plugin);

}  // namespace shardscope::engine::cuda
