#include "engine/comm/threads.hpp"

#include <algorithm>
#include <utility>

#include "engine/comm/rendezvous.hpp"
#include "engine/comm/rendezvous_state.hpp"

namespace shardscope::engine {
namespace {

/// Sleeps beside the peers, looking for an abort and for the deadline.
class ThreadsWaiting final : public Waiting {
 public:
  explicit ThreadsWaiting(RendezvousState& state) : state_(state) {}

  Waited wait(std::int32_t /*rank*/, Progress& progress, std::uint64_t target,
              const Call& /*call*/) override {
    if (progress.reached(target)) return Waited::reached;
    const auto start = Clock::now();
    for (;;) {
      const auto deadline = std::max(start, wires_quiet()) + state_.options.deadline;
      if (progress.wait_until(target, deadline)) return Waited::reached;
      if (state_.abort.raised()) return Waited::aborted;
      // Messages put on the wire meanwhile give more time.
      if (std::max(start, wires_quiet()) + state_.options.deadline <= deadline) {
        return Waited::expired;
      }
    }
  }

  void interrupt() override {
    for (const auto& mailbox : state_.mailboxes) {
      mailbox->arrived.interrupt();
      mailbox->reduced.interrupt();
      for (std::int32_t peer = 0; peer < mailbox->size(); ++peer) {
        mailbox->seat(peer).taken.interrupt();
      }
    }
  }

 private:
  /// A peer may sleep behind a slow wire for longer than the deadline.
  [[nodiscard]] Clock::time_point wires_quiet() const {
    return Clock::time_point(std::chrono::nanoseconds(state_.wires.busy_until_ns()));
  }

  RendezvousState& state_;
};

}  // namespace

ThreadsFabric::ThreadsFabric(std::shared_ptr<RendezvousState> state) : state_(std::move(state)) {}

Result<std::unique_ptr<ThreadsFabric>> ThreadsFabric::create(const Topology& topology,
                                                             std::int32_t channels,
                                                             const FabricOptions& options) {
  if (Status ok = check_fabric(topology, channels, options); !ok) return fail(ok.error());
  auto state = std::make_shared<RendezvousState>(topology, channels, options);
  state->waiting = std::make_unique<ThreadsWaiting>(*state);
  return std::unique_ptr<ThreadsFabric>(new ThreadsFabric(std::move(state)));
}

std::unique_ptr<Communicator> ThreadsFabric::communicator(std::int32_t rank, std::int32_t channel) {
  return std::make_unique<RendezvousCommunicator>(state_, rank, channel);
}

void ThreadsFabric::abort(const Error& reason) {
  state_->abort_run(reason);
}

Status ThreadsFabric::status() const {
  return state_->abort.status();
}

}  // namespace shardscope::engine
