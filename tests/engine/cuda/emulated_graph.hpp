#pragma once
// A CUDA graph as emulated GPUs capture and replay it: work in one order that its edges allow and
// that differs most from the order of the calls, so that a missing edge shows.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/cuda/runtime_api.hpp"
#include "engine/stream.hpp"

namespace shardscope::engine::cuda {

class EmulatedGraph;
using SharedGraph = std::shared_ptr<EmulatedGraph>;

struct EmulatedEvent {
  Stream* stream = nullptr;
  Event event;
  std::atomic<std::int64_t> ns{0};
  SharedGraph captured;  ///< recorded last in that capture
  std::vector<std::size_t> captured_behind;
};

/// Records the event on a stream, now.
void record_on(Stream& stream, EmulatedEvent& event);

class EmulatedGraph {
 public:
  explicit EmulatedGraph(NativeStream origin) { tails_[origin]; }

  void add(NativeStream stream, const Task& task);
  /// Behind all that were added so before.
  void add_in_order(NativeStream stream, const Task& task);
  /// Every launch records the event.
  void add_outside(NativeStream stream, EmulatedEvent& event);
  void record(NativeStream stream, const SharedGraph& self, EmulatedEvent& event);
  void wait(NativeStream stream, const EmulatedEvent& event);
  /// Memory of the capture lasts as long as the graph.
  void own(std::shared_ptr<void> memory) { memory_.push_back(std::move(memory)); }

  /// False: a stream has work that the first has not waited for.
  [[nodiscard]] bool end(NativeStream origin);
  [[nodiscard]] bool has_ended() const { return ended_; }
  void launch(Stream& stream) const;

 private:
  struct Node {
    Task task;
    EmulatedEvent* outside = nullptr;
    std::vector<std::size_t> behind;
  };

  Node& add_node(NativeStream stream);
  void put_in_order();

  std::vector<Node> nodes_;
  std::map<NativeStream, std::vector<std::size_t>> tails_;  ///< what the next node comes behind
  std::vector<std::size_t> in_order_;
  std::vector<std::size_t> order_;
  std::vector<std::shared_ptr<void>> memory_;
  bool ended_ = false;
};

}  // namespace shardscope::engine::cuda
