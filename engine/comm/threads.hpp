#pragma once
// Ranks are threads of this process; `--wire` emulates slower links between them.

#include <memory>

#include "engine/comm/fabric.hpp"

namespace shardscope::engine {

struct RendezvousState;

class ThreadsFabric final : public Fabric {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ThreadsFabric>> create(
      const Topology& topology, std::int32_t channels, const FabricOptions& options = {});

  std::unique_ptr<Communicator> communicator(std::int32_t rank, std::int32_t channel) override;
  StreamMode stream_mode() const override { return StreamMode::threaded; }
  void enter(std::int32_t /*rank*/) override {}
  void leave(std::int32_t /*rank*/) override {}
  std::int64_t waited_ns(std::int32_t /*rank*/) const override { return 0; }
  void abort(const Error& reason) override;
  Status status() const override;

 private:
  explicit ThreadsFabric(std::shared_ptr<RendezvousState> state);

  std::shared_ptr<RendezvousState> state_;
};

}  // namespace shardscope::engine
