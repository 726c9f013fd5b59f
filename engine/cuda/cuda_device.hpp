#pragma once
// A GPU as an engine sees it. Arenas stand in managed memory kept on the GPU, so that kernels and
// the host's tasks between them use the same addresses.

#include <memory>

#include "engine/cuda/plugin_table.hpp"
#include "engine/device.hpp"

namespace shardscope::engine::cuda {

class CudaDevice final : public Device {
 public:
  /// The plugin must outlive the device.
  [[nodiscard]] static Result<std::shared_ptr<CudaDevice>> create(const PluginTable& plugin,
                                                                  int gpu);

  [[nodiscard]] Ops& ops() override { return *ops_; }
  /// On inline fabrics (loopback) tasks run on the rank's thread, else on the driver's.
  [[nodiscard]] Result<std::unique_ptr<Stream>> stream(StreamMode mode, const char* name) override;
  [[nodiscard]] Result<std::shared_ptr<std::byte>> allocate(std::int64_t bytes,
                                                            std::string_view purpose) override;

 private:
  CudaDevice(const PluginTable& plugin, int gpu)
      : plugin_(plugin), gpu_(gpu), ops_(plugin.make_ops()) {}

  const PluginTable& plugin_;
  int gpu_;
  std::unique_ptr<Ops> ops_;
};

}  // namespace shardscope::engine::cuda
