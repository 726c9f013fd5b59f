#pragma once
// N emulated ranks on one device, one after another. Data is really exchanged by copies; nothing
// sleeps but the ranks whose turn it is not.

#include <memory>

#include "engine/comm/fabric.hpp"

namespace shardscope::engine {

class Baton;
struct RendezvousState;

/// Every rank's thread works inside RankTurn, on inline or deferred streams. Time of a rank's own
/// work = wall clock - growth of waited_ns(rank). The bandwidths of FabricOptions::wire must be 0:
/// the wires of loopback are modelled by the simulator.
class LoopbackFabric final : public Fabric {
 public:
  [[nodiscard]] static Result<std::unique_ptr<LoopbackFabric>> create(
      const Topology& topology, std::int32_t channels, const FabricOptions& options = {});
  ~LoopbackFabric() override;

  std::unique_ptr<Communicator> communicator(std::int32_t rank, std::int32_t channel) override;
  StreamMode stream_mode() const override { return StreamMode::inline_; }
  void enter(std::int32_t rank) override;
  void leave(std::int32_t rank) override;
  std::int64_t waited_ns(std::int32_t rank) const override;
  void abort(const Error& reason) override;
  Status status() const override;

 private:
  LoopbackFabric(std::shared_ptr<RendezvousState> state, std::shared_ptr<Baton> baton);

  std::shared_ptr<RendezvousState> state_;
  std::shared_ptr<Baton> baton_;
};

}  // namespace shardscope::engine
