#pragma once
// The GPUs of a run as an engine sees them. Ranks' memory is managed memory kept on the GPU, so
// that kernels and the host's tasks between them use the same addresses.

#include <functional>
#include <memory>
#include <vector>

#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/cuda_mover.hpp"
#include "engine/cuda/dense_precision.hpp"
#include "engine/cuda/nccl_api.hpp"
#include "engine/cuda/plugin_table.hpp"
#include "engine/device.hpp"

namespace shardscope::engine::cuda {

struct CudaDeviceConfig {
  std::vector<int> gpus{0};  ///< rank r runs on gpus[r % size]
  /// Opens NCCL when a fabric between GPUs is asked for.
  std::function<Result<const NcclApi*>()> nccl = nccl_api;
  /// Opens cuBLAS when a dense part is asked for.
  std::function<Result<const CublasApi*>()> cublas = cublas_api;
  DensePrecision dense = DensePrecision::tf32;
  bool graphs = false;  ///< of streams: Stream::begin_graph()
};

class CudaDevice final : public Device {
 public:
  /// The plugin must outlive the device. Errors: no driver, no such GPU.
  [[nodiscard]] static Result<std::shared_ptr<CudaDevice>> create(const PluginTable& plugin,
                                                                  CudaDeviceConfig config = {});

  [[nodiscard]] Ops& ops() override { return *ops_; }
  /// On inline fabrics (loopback) tasks run on the rank's thread, else on the driver's.
  [[nodiscard]] Result<std::unique_ptr<Stream>> stream(std::int32_t rank, StreamMode mode,
                                                       const char* name) override;
  /// Null with DensePrecision::host.
  [[nodiscard]] Result<std::shared_ptr<DenseMath>> dense_math(std::int32_t rank,
                                                              Stream& stream) override;
  [[nodiscard]] Result<std::shared_ptr<std::byte>> allocate(std::int32_t rank, std::int64_t bytes,
                                                            std::string_view purpose) override;
  [[nodiscard]] Status upload(std::int32_t rank, void* to, const void* from,
                              std::int64_t bytes) override;
  /// See device_scratch_bytes().
  [[nodiscard]] std::int64_t scratch_bytes(const Workload& workload,
                                           std::span<const BufferSpec> buffers) const override;
  [[nodiscard]] Result<std::int64_t> available_bytes() override;
  [[nodiscard]] Mover* mover() override { return &mover_; }
  /// Refuses more ranks than GPUs: NCCL wants a GPU a rank.
  [[nodiscard]] Result<std::shared_ptr<Fabric>> fabric(const Topology& topology,
                                                       std::int32_t channels,
                                                       const FabricOptions& options) override;

 private:
  CudaDevice(const PluginTable& plugin, CudaDeviceConfig config)
      : plugin_(plugin),
        config_(std::move(config)),
        ops_(plugin.make_ops()),
        mover_(plugin.runtime, config_.gpus.front(), *ops_) {}

  [[nodiscard]] int gpu_of(std::int32_t rank) const {
    return config_.gpus[static_cast<std::size_t>(rank) % config_.gpus.size()];
  }

  /// False where a GPU of a fast domain cannot write into another's memory.
  [[nodiscard]] bool open_peer_access(const Topology& topology);

  const PluginTable& plugin_;
  CudaDeviceConfig config_;
  std::unique_ptr<Ops> ops_;
  CudaMover mover_;
};

}  // namespace shardscope::engine::cuda
