#pragma once
// What stands between a run and GPUs: plugin, NCCL, cuBLAS and CUPTI, each opened when it is used.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "app/options.hpp"
#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/nccl_api.hpp"
#include "engine/cuda/plugin_table.hpp"
#include "engine/device.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "profiler/activity.hpp"
#include "profiler/cupti_api.hpp"

namespace shardscope::app {

/// Tests put a machine of their own here; no option of a command does.
struct GpuAccess {
  std::function<Result<const engine::cuda::PluginTable*>()> plugin;
  std::function<Result<const engine::cuda::NcclApi*>()> nccl;
  std::function<Result<const engine::cuda::CublasApi*>()> cublas;
  std::function<Result<const cupti::CuptiApi*>()> cupti;

  /// This machine's.
  [[nodiscard]] static const GpuAccess& here();
};

/// The access of the options, this machine's where they name none.
[[nodiscard]] const GpuAccess& gpu_access(const RunOptions& options);

/// --backend cuda: the GPUs of the run, one for all ranks (loopback) or one a rank (nccl); else
/// null. Errors say what `shardscope doctor` says: no plugin, no driver, too few GPUs.
[[nodiscard]] Result<std::shared_ptr<engine::Device>> open_device(const RunOptions& options,
                                                                  const Topology& topology);

/// The GPUs that open_device() takes, as a session lists them; empty on the CPU.
[[nodiscard]] std::vector<GpuInfo> gpus_of(const RunOptions& options, const Topology& topology);

}  // namespace shardscope::app
