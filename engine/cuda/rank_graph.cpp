#include "engine/cuda/rank_graph.hpp"

#include <algorithm>
#include <utility>

namespace shardscope::engine::cuda {
namespace {

/// Work whose captures fail so often runs without a graph from then on.
constexpr int kMostFailures = 8;

constexpr std::int64_t kListAlignment = 256;
constexpr std::int64_t kLeastRoom = 64;

std::int64_t list_bytes(std::int64_t bytes) {
  return (bytes + kListAlignment - 1) / kListAlignment * kListAlignment;
}

}  // namespace

RankGraph::RankGraph(const RuntimeApi& runtime, std::vector<NativeStream> streams)
    : runtime_(runtime), streams_(std::move(streams)) {}

RankGraph::~RankGraph() {
  drop();
  if (lists_ != nullptr) runtime_.free_pinned(lists_);
  for (const NativeEvent event : events_) runtime_.destroy_event(event);
}

void RankGraph::drop() {
  if (executable_ != nullptr) runtime_.destroy_executable(executable_);
  executable_ = nullptr;
  measured_ = false;
}

NativeEvent RankGraph::new_event(int& error) {
  NativeEvent event = nullptr;
  if (error == kCudaSuccess) error = runtime_.create_event(&event);
  if (event != nullptr) events_.push_back(event);
  return event;
}

void RankGraph::begin(int& error) {
  fits_ = true;
  next_call_ = next_memory_ = next_room_ = next_point_ = next_mark_ = next_task_ = 0;
  before_.clear();
  if (executable_ != nullptr) {
    // The pinned memory is written again.
    error = runtime_.synchronize_event(launched_);
    lists_used_ = 0;
    turn_ = Turn::refill;
    return;
  }
  if (!measured_ || failures_ >= kMostFailures) {
    turn_ = Turn::direct;
    lists_used_ = 0;
    return;
  }
  if (!begin_capture()) {
    failures_ = kMostFailures;
    begin_again();
  }
}

// Nothing may be allocated while the streams are captured.
bool RankGraph::begin_capture() {
  turn_ = Turn::capture;
  calls_.clear();
  memories_.clear();
  marks_.clear();
  tasks_.clear();
  kernels_.clear();
  int error = kCudaSuccess;
  if (lists_used_ > lists_bytes_) {
    if (lists_ != nullptr) runtime_.free_pinned(lists_);
    void* pinned = nullptr;
    lists_bytes_ = 2 * lists_used_;
    error = runtime_.allocate_pinned(&pinned, static_cast<std::size_t>(lists_bytes_));
    lists_ = error == kCudaSuccess ? static_cast<std::byte*>(pinned) : nullptr;
    if (error != kCudaSuccess) lists_bytes_ = 0;
  }
  lists_used_ = 0;
  if (launched_ == nullptr) launched_ = new_event(error);
  while (error == kCudaSuccess && forks_.size() < streams_.size()) {
    forks_.push_back(new_event(error));
  }
  if (error == kCudaSuccess) error = runtime_.begin_capture(streams_.front());
  if (error != kCudaSuccess) return false;
  for (std::size_t s = 1; s < streams_.size(); ++s) {
    if (s == 1) error = runtime_.record_event(forks_.front(), streams_.front());
    if (error == kCudaSuccess) error = runtime_.wait_event(streams_[s], forks_.front());
  }
  fits_ = error == kCudaSuccess;
  return true;
}

void RankGraph::begin_again() {
  if (is_ready()) ++failures_;  // a peer was not
  turn_ = Turn::direct;
  fits_ = true;
  next_room_ = 0;
  lists_used_ = 0;
}

GraphTurn RankGraph::end(int& error) {
  if (turn_ == Turn::direct) {
    measured_ = fits_;
    return GraphTurn::enqueued;
  }
  if (turn_ == Turn::capture) return finish_capture(error) ? GraphTurn::ready : GraphTurn::unfit;
  const bool all = next_call_ == calls_.size() && next_memory_ == memories_.size() &&
                   next_room_ == rooms_.size() && next_mark_ == marks_.size() &&
                   next_task_ == tasks_.size();
  if (fits_ && all) return GraphTurn::ready;
  ++failures_;
  drop();
  return GraphTurn::unfit;
}

bool RankGraph::finish_capture(int& error) {
  int failed = kCudaSuccess;
  for (std::size_t s = 1; s < streams_.size() && failed == kCudaSuccess; ++s) {
    failed = runtime_.record_event(forks_[s], streams_[s]);
    if (failed == kCudaSuccess) failed = runtime_.wait_event(streams_.front(), forks_[s]);
  }
  NativeGraph graph = nullptr;
  const int ended = runtime_.end_capture(streams_.front(), &graph);
  if (failed == kCudaSuccess) failed = ended;
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

void RankGraph::launch(int& error) {
  for (const NativeEvent event : before_) {
    if (error == kCudaSuccess) error = runtime_.wait_event(streams_.front(), event);
  }
  if (error == kCudaSuccess) error = runtime_.launch_graph(executable_, streams_.front());
  if (error == kCudaSuccess) error = runtime_.record_event(launched_, streams_.front());
  has_moments_ = error == kCudaSuccess;
}

bool RankGraph::note(const std::byte* bytes, std::size_t count) {
  if (turn_ == Turn::direct) return true;
  if (turn_ == Turn::capture) {
    calls_.insert(calls_.end(), bytes, bytes + count);
    return fits_;
  }
  const bool same = count <= calls_.size() - next_call_ &&
                    std::memcmp(calls_.data() + next_call_, bytes, count) == 0;
  fits_ = fits_ && same;
  if (same) next_call_ += count;
  return false;
}

std::int64_t RankGraph::room(std::int64_t count) {
  if (turn_ == Turn::direct) {
    if (executable_ != nullptr) return count;  // what it keeps room for stands
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

void* RankGraph::memory(std::int64_t bytes) {
  if (next_memory_ == memories_.size() || bytes > memories_[next_memory_].bytes) {
    fits_ = false;
    return nullptr;
  }
  return memories_[next_memory_++].at;
}

void RankGraph::captured_memory(void* memory, std::int64_t bytes) {
  memories_.push_back({memory, bytes});
}

std::byte* RankGraph::list(std::int64_t bytes) {
  const std::int64_t at = lists_used_;
  lists_used_ += list_bytes(bytes);
  if (turn_ == Turn::direct) return nullptr;
  if (lists_used_ > lists_bytes_) {
    fits_ = false;
    return nullptr;
  }
  return lists_ + at;
}

void RankGraph::give_up() {
  fits_ = false;
  failures_ = kMostFailures;
}

RankGraph::Point RankGraph::point(int& error) {
  if (next_point_ == points_.size()) points_.push_back({new_event(error), new_event(error)});
  return points_[next_point_++];
}

NativeEvent RankGraph::mark(Moment* to, int& error) {
  if (turn_ == Turn::capture) {
    marks_.push_back({new_event(error), to});
    return marks_.back().event;
  }
  if (next_mark_ == marks_.size()) {
    fits_ = false;
    return nullptr;
  }
  Mark& mark = marks_[next_mark_++];
  mark.to = to;
  return mark.event;
}

Task& RankGraph::task(const Task& task) {
  if (turn_ == Turn::refill && next_task_ < tasks_.size()) return tasks_[next_task_++] = task;
  fits_ = fits_ && turn_ == Turn::capture;
  return tasks_.emplace_back(task);
}

}  // namespace shardscope::engine::cuda
