#include "tests/engine/cuda/emulated_graph.hpp"

#include <algorithm>
#include <queue>

#include "profiler/clock.hpp"

namespace shardscope::engine::cuda {

void record_on(Stream& stream, EmulatedEvent& event) {
  EmulatedEvent* recorded = &event;
  stream.enqueue([recorded] { recorded->ns = steady_ns(); });
  event.stream = &stream;
  event.event = stream.record();
  event.captured = nullptr;
}

EmulatedGraph::Node& EmulatedGraph::add_node(NativeStream stream) {
  std::vector<std::size_t>& tail = tails_[stream];
  Node& node = nodes_.emplace_back();
  node.behind = tail;
  tail = {nodes_.size() - 1};
  return node;
}

void EmulatedGraph::add(NativeStream stream, const Task& task) {
  add_node(stream).task = task;
}

void EmulatedGraph::add_in_order(NativeStream stream, const Task& task) {
  Node& node = add_node(stream);
  node.task = task;
  if (!in_order_.empty()) node.behind.push_back(in_order_.back());
  in_order_.push_back(nodes_.size() - 1);
}

void EmulatedGraph::add_outside(NativeStream stream, EmulatedEvent& event) {
  add_node(stream).outside = &event;
}

void EmulatedGraph::record(NativeStream stream, const SharedGraph& self, EmulatedEvent& event) {
  event.captured = self;
  event.captured_behind = tails_[stream];
}

void EmulatedGraph::wait(NativeStream stream, const EmulatedEvent& event) {
  std::vector<std::size_t>& tail = tails_[stream];
  tail.insert(tail.end(), event.captured_behind.begin(), event.captured_behind.end());
}

bool EmulatedGraph::end(NativeStream origin) {
  ended_ = true;
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::size_t> open = tails_[origin];
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    if (seen[n]) continue;
    seen[n] = true;
    open.insert(open.end(), nodes_[n].behind.begin(), nodes_[n].behind.end());
  }
  put_in_order();
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

// Of the nodes that may come next the one that was called last.
void EmulatedGraph::put_in_order() {
  std::vector<std::size_t> missing(nodes_.size(), 0);
  std::vector<std::vector<std::size_t>> next(nodes_.size());
  std::priority_queue<std::size_t> ready;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    missing[n] = nodes_[n].behind.size();
    for (const std::size_t before : nodes_[n].behind) next[before].push_back(n);
    if (missing[n] == 0) ready.push(n);
  }
  while (!ready.empty()) {
    const std::size_t n = ready.top();
    ready.pop();
    order_.push_back(n);
    for (const std::size_t behind : next[n]) {
      if (--missing[behind] == 0) ready.push(behind);
    }
  }
}

void EmulatedGraph::launch(Stream& stream) const {
  for (const std::size_t n : order_) {
    const Node& node = nodes_[n];
    if (node.outside != nullptr) {
      record_on(stream, *node.outside);
    } else {
      stream.enqueue(node.task);
    }
  }
}

}  // namespace shardscope::engine::cuda
