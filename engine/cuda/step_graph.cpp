#include "engine/cuda/step_graph.hpp"

#include <algorithm>

namespace shardscope::engine::cuda {
namespace {

/// A step whose captures fail so often runs without a graph from then on.
constexpr int kMostFailures = 8;

constexpr std::int64_t kListAlignment = 256;
constexpr std::int64_t kLeastRoom = 64;

std::int64_t list_bytes(std::int64_t bytes) {
  return (bytes + kListAlignment - 1) / kListAlignment * kListAlignment;
}

}  // namespace

StepGraph::~StepGraph() {
  drop();
  if (lists_ != nullptr) runtime_.free_pinned(lists_);
  if (launched_ != nullptr) runtime_.destroy_event(launched_);
}

void StepGraph::drop() {
  if (executable_ != nullptr) runtime_.destroy_executable(executable_);
  executable_ = nullptr;
  measured_ = false;
}

void StepGraph::begin(NativeStream stream, int& error) {
  fits_ = true;
  next_call_ = next_memory_ = next_room_ = 0;
  if (executable_ != nullptr) {
    // The pinned memory is written again.
    error = runtime_.synchronize_event(launched_);
    lists_used_ = 0;
    turn_ = Turn::refill;
    return;
  }
  if (!measured_ || failures_ >= kMostFailures) return begin_again();
  if (!begin_capture(stream)) {
    failures_ = kMostFailures;
    begin_again();
  }
}

// Nothing may be allocated while the stream is captured.
bool StepGraph::begin_capture(NativeStream stream) {
  turn_ = Turn::capture;
  calls_.clear();
  memories_.clear();
  tasks_.clear();
  int error = kCudaSuccess;
  if (lists_used_ > lists_bytes_) {
    if (lists_ != nullptr) runtime_.free_pinned(lists_);
    void* pinned = nullptr;
    lists_bytes_ = 2 * lists_used_;
    error = runtime_.allocate_pinned(&pinned, static_cast<std::size_t>(lists_bytes_));
    lists_ = error == kCudaSuccess ? static_cast<std::byte*>(pinned) : nullptr;
    if (error != kCudaSuccess) lists_bytes_ = 0;
  }
  if (error == kCudaSuccess && launched_ == nullptr) error = runtime_.create_event(&launched_);
  if (error == kCudaSuccess) error = runtime_.begin_capture(stream);
  lists_used_ = 0;
  return error == kCudaSuccess;
}

void StepGraph::begin_again() {
  turn_ = Turn::direct;
  fits_ = true;
  next_room_ = 0;
  lists_used_ = 0;
}

bool StepGraph::end(NativeStream stream, int& error) {
  if (turn_ == Turn::direct) {
    measured_ = fits_;
    return true;
  }
  if (turn_ == Turn::capture && !finish_capture(stream, error)) return false;
  const bool all = next_call_ == calls_.size() && next_memory_ == memories_.size() &&
                   next_room_ == rooms_.size();
  if (turn_ == Turn::refill && !(fits_ && all)) {
    ++failures_;
    drop();
    return false;
  }
  error = runtime_.launch_graph(executable_, stream);
  if (error == kCudaSuccess) error = runtime_.record_event(launched_, stream);
  return true;
}

bool StepGraph::finish_capture(NativeStream stream, int& error) {
  NativeGraph graph = nullptr;
  int failed = runtime_.end_capture(stream, &graph);
  if (failed == kCudaSuccess && fits_) {
    failed = runtime_.instantiate_graph(&executable_, graph);
  }
  if (graph != nullptr) runtime_.destroy_graph(graph);
  if (failed == kCudaSuccess && fits_) return true;
  executable_ = nullptr;
  // What a graph cannot hold (or the driver does not take) still runs without one.
  ++failures_;
  drop();
  error = kCudaSuccess;
  return false;
}

bool StepGraph::note(const std::byte* bytes, std::size_t count) {
  if (turn_ == Turn::direct) return true;
  if (turn_ == Turn::capture) {
    calls_.insert(calls_.end(), bytes, bytes + count);
    next_call_ = calls_.size();
    return fits_;
  }
  const bool same = count <= calls_.size() - next_call_ &&
                    std::memcmp(calls_.data() + next_call_, bytes, count) == 0;
  fits_ = fits_ && same;
  if (same) next_call_ += count;
  return false;
}

std::int64_t StepGraph::room(std::int64_t count) {
  if (turn_ == Turn::direct) {
    if (next_room_ == rooms_.size()) rooms_.push_back(0);
    rooms_[next_room_] = std::max(rooms_[next_room_], count);
    ++next_room_;
    return count;
  }
  if (next_room_ == rooms_.size()) {
    fits_ = false;
    return count;
  }
  std::int64_t& kept = rooms_[next_room_++];
  if (turn_ == Turn::capture) {
    kept = std::max(kept, count);
    kept += kept / 8 + kLeastRoom;
  }
  fits_ = fits_ && count <= kept;
  return kept;
}

void* StepGraph::memory(std::int64_t bytes) {
  if (next_memory_ == memories_.size() || bytes > memories_[next_memory_].bytes) {
    fits_ = false;
    return nullptr;
  }
  return memories_[next_memory_++].at;
}

void StepGraph::captured_memory(void* memory, std::int64_t bytes) {
  memories_.push_back({memory, bytes});
  next_memory_ = memories_.size();
}

std::byte* StepGraph::list(std::int64_t bytes) {
  const std::int64_t at = lists_used_;
  lists_used_ += list_bytes(bytes);
  if (turn_ == Turn::direct) return nullptr;
  if (lists_used_ > lists_bytes_) {
    fits_ = false;
    return nullptr;
  }
  return lists_ + at;
}

void StepGraph::give_up() {
  fits_ = false;
  failures_ = kMostFailures;
}

}  // namespace shardscope::engine::cuda
