#pragma once
// A communicator that measures every collective for the step that enqueues it.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/comm/communicator.hpp"
#include "engine/comm/groups.hpp"
#include "engine/pipeline/step_times.hpp"
#include "layout/topology.hpp"

namespace shardscope::engine {

/// Forwards everything; around each collective it enqueues two tasks that read the clocks and the
/// counters. Owns the communicator it wraps.
class ProbedCommunicator final : public Communicator {
 public:
  ProbedCommunicator(std::unique_ptr<Communicator> inner, const Topology& topology);

  /// Where the collectives enqueued from now on are measured; null: nowhere.
  void set_step(StepTimes* times);

  [[nodiscard]] std::int32_t rank() const override { return inner_->rank(); }
  [[nodiscard]] std::int32_t size() const override { return inner_->size(); }
  [[nodiscard]] std::int32_t group_size(Group group) const override {
    return inner_->group_size(group);
  }
  [[nodiscard]] std::int32_t group_rank(Group group) const override {
    return inner_->group_rank(group);
  }
  [[nodiscard]] CountsHandle exchange_counts(Stream& stream, Group group, const std::int64_t* send,
                                             std::int64_t* receive, std::int32_t slots) override;
  [[nodiscard]] Status wait(const CountsHandle& handle) override { return inner_->wait(handle); }
  void alltoall_v(Stream& stream, Group group, const AllToAllV& call) override;
  void all_reduce(Stream& stream, Group group, void* data, std::int64_t count,
                  DType dtype) override;
  void barrier(Stream& stream, Group group) override;
  void set_label(const char* label) override { inner_->set_label(label); }
  [[nodiscard]] PeerWindow* peer_window() override { return inner_->peer_window(); }
  void abort(const Error& reason) override { inner_->abort(reason); }
  [[nodiscard]] Status status() const override { return inner_->status(); }
  [[nodiscard]] LinkBytes sent() const override { return inner_->sent(); }
  [[nodiscard]] CommTimes times() const override { return inner_->times(); }

 private:
  /// The next collective of the step, or null.
  ExchangeTimes* begin(Stream& stream, Group group);
  void end(Stream& stream, ExchangeTimes* exchange);
  /// Adds what the rank receives from every peer of the group.
  void receive(Stream& stream, ExchangeTimes* exchange, const std::int64_t* bytes);

  std::unique_ptr<Communicator> inner_;
  std::array<std::vector<LinkClass>, kGroups> links_;  ///< to every peer of a group
  StepTimes* step_ = nullptr;
};

}  // namespace shardscope::engine
