#pragma once
// A communicator that measures every collective for the step that enqueues it.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/forwarding_communicator.hpp"
#include "engine/comm/groups.hpp"
#include "engine/comm/peer_window.hpp"
#include "engine/pipeline/step_times.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

/// Forwards everything; around each collective it enqueues two tasks that read the clocks and the
/// counters.
class ProbedCommunicator final : public ForwardingCommunicator {
 public:
  ProbedCommunicator(std::unique_ptr<Communicator> inner, const Topology& topology);
  ~ProbedCommunicator() override;

  /// Where the collectives enqueued from now on are measured; null: nowhere.
  void set_step(StepTimes* times);

  [[nodiscard]] CountsHandle exchange_counts(Stream& stream, Group group, const std::int64_t* send,
                                             std::int64_t* receive, std::int32_t slots) override;
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override;
  void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                  DType dtype) override;
  void barrier(Stream& stream, Group group) override;
  /// One exchange of the step from the first wrote() to the fence.
  [[nodiscard]] PeerWindow* peer_window() override;

 private:
  class Window;

  /// The next collective of the step, or null.
  ExchangeTimes* begin(Stream& stream, Group group);
  void end(Stream& stream, ExchangeTimes* exchange);
  /// Adds what the rank receives from every peer of the group.
  void receive(Stream& stream, ExchangeTimes* exchange, const std::int64_t* bytes);

  std::array<std::vector<LinkClass>, kGroups> links_;  ///< to every peer of a group
  StepTimes* step_ = nullptr;
  std::unique_ptr<Window> window_;
};

}  // namespace shardscope::engine
