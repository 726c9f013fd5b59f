#include "engine/comm/loopback.hpp"

#include <utility>

#include "engine/comm/baton.hpp"
#include "engine/comm/rendezvous.hpp"
#include "engine/comm/rendezvous_state.hpp"

namespace shardscope::engine {
namespace {

class LoopbackWaiting final : public Waiting {
 public:
  explicit LoopbackWaiting(std::shared_ptr<Baton> baton) : baton_(std::move(baton)) {}

  Waited wait(std::int32_t rank, Progress& progress, std::uint64_t target,
              const Call& call) override {
    return baton_->wait(rank, progress, target, call);
  }

  void interrupt() override { baton_->wake_all(); }

 private:
  std::shared_ptr<Baton> baton_;
};

}  // namespace

LoopbackFabric::LoopbackFabric(std::shared_ptr<RendezvousState> state, std::shared_ptr<Baton> baton)
    : state_(std::move(state)), baton_(std::move(baton)) {}

LoopbackFabric::~LoopbackFabric() = default;

Result<std::unique_ptr<LoopbackFabric>> LoopbackFabric::create(const Topology& topology,
                                                               std::int32_t channels,
                                                               const FabricOptions& options) {
  if (Status ok = check_fabric(topology, channels, options); !ok) return fail(ok.error());
  if (options.wire.any()) {
    return fail({ErrorKind::usage, "loopback was given wire bandwidths", "--wire",
                 "no bandwidths: its wires are modelled, not throttled",
                 "Leave --wire out or use --comm threads"});
  }
  auto state = std::make_shared<RendezvousState>(topology, channels, options);
  auto baton = std::make_shared<Baton>(topology.ranks(), options.deadline, state->abort);
  state->waiting = std::make_unique<LoopbackWaiting>(baton);
  return std::unique_ptr<LoopbackFabric>(new LoopbackFabric(std::move(state), std::move(baton)));
}

std::unique_ptr<Communicator> LoopbackFabric::communicator(std::int32_t rank,
                                                           std::int32_t channel) {
  return std::make_unique<RendezvousCommunicator>(state_, rank, channel);
}

void LoopbackFabric::enter(std::int32_t rank) {
  baton_->enter(rank);
}
void LoopbackFabric::leave(std::int32_t rank) {
  baton_->leave(rank);
}
std::int64_t LoopbackFabric::waited_ns(std::int32_t rank) const {
  return baton_->waited_ns(rank);
}
void LoopbackFabric::abort(const Error& reason) {
  state_->abort_run(reason);
}
Status LoopbackFabric::status() const {
  return state_->abort.status();
}

}  // namespace shardscope::engine
