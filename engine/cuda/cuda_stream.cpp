#include "engine/cuda/cuda_stream.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "profiler/clock.hpp"

namespace shardscope::engine::cuda {
namespace {

/// Records that can be told apart. Waiting for an older one waits for one that came later.
constexpr std::size_t kEvents = 256;

/// Host tasks on their way; an event stands behind every block of them.
constexpr std::size_t kTasks = 1024;
constexpr std::size_t kTaskBlock = 256;

constexpr std::int64_t kUploadAlignment = 256;
constexpr std::int64_t kUploadHalf = kUploadBytes / 2;

/// Calls of a stream that a graph tells apart by their kind and place alone.
enum class Noted : std::uint8_t { record, wait, mark, task };

void run_task(void* task) {
  (*static_cast<Task*>(task))();
}

}  // namespace

CudaStream::CudaStream(const RuntimeApi& runtime, int device, std::string place, HostTasks tasks,
                       bool graphs)
    : runtime_(runtime),
      device_(device),
      place_(std::move(place)),
      host_tasks_(tasks),
      use_graphs_(graphs),
      tasks_(kTasks) {}

Result<std::unique_ptr<CudaStream>> CudaStream::create(const RuntimeApi& runtime, int device,
                                                       std::string place, HostTasks tasks,
                                                       bool graphs) {
  std::unique_ptr<CudaStream> stream(
      new CudaStream(runtime, device, std::move(place), tasks, graphs));
  if (Status status = stream->open(); !status) return fail(status.error());
  return stream;
}

Status CudaStream::open() {
  check(runtime_.set_device(device_), "cudaSetDevice");
  if (!error_) check(runtime_.create_stream(&stream_), "cudaStreamCreateWithFlags");
  const auto add_events = [&](std::vector<NativeEvent>& events, std::size_t count) {
    for (std::size_t n = 0; n < count && !error_; ++n) {
      NativeEvent event = nullptr;
      check(runtime_.create_event(&event), "cudaEventCreateWithFlags");
      if (event != nullptr) events.push_back(event);
    }
  };
  add_events(events_, kEvents);
  recorded_.resize(kEvents);
  add_events(task_events_, kTasks / kTaskBlock);
  for (NativeEvent& event : upload_events_) {
    if (!error_) check(runtime_.create_event(&event), "cudaEventCreateWithFlags");
  }
  if (!error_) check(runtime_.create_event(&base_), "cudaEventCreateWithFlags");
  if (!error_) {
    void* pinned = nullptr;
    check(runtime_.allocate_pinned(&pinned, kUploadBytes), "cudaMallocHost");
    upload_ = static_cast<std::byte*>(pinned);
  }
  if (!error_) set_base();
  return status();
}

CudaStream::~CudaStream() {
  // What is enqueued still uses the tasks and the pinned memory.
  if (stream_ != nullptr && !events_.empty()) synchronize(record());
  graphs_.clear();
  if (upload_ != nullptr) runtime_.free_pinned(upload_);
  for (const NativeEvent event : events_) runtime_.destroy_event(event);
  for (const NativeEvent event : task_events_) runtime_.destroy_event(event);
  for (const NativeEvent event : upload_events_) {
    if (event != nullptr) runtime_.destroy_event(event);
  }
  for (const RankGraph::Mark& mark : marks_) runtime_.destroy_event(mark.event);
  for (const NativeEvent event : spare_events_) runtime_.destroy_event(event);
  if (base_ != nullptr) runtime_.destroy_event(base_);
  if (stream_ != nullptr) runtime_.destroy_stream(stream_);
}

void CudaStream::set_base() {
  check(runtime_.record_event(base_, stream_), "cudaEventRecord");
  check(runtime_.synchronize_event(base_), "cudaEventSynchronize");
  base_ns_ = steady_ns();
}

void CudaStream::mark(Moment* to) {
  if (in_graph()) {
    int error = kCudaSuccess;
    const NativeEvent moment = graph_->mark(to, error);
    check(error, "cudaEventCreateWithFlags");
    if (moment == nullptr || !graph_->call(stream_, Noted::mark)) return;
    check(runtime_.record_event_outside(moment, stream_), "cudaEventRecordWithFlags");
    return;
  }
  NativeEvent event = nullptr;
  if (!spare_events_.empty()) {
    event = spare_events_.back();
    spare_events_.pop_back();
  } else {
    check(runtime_.create_event(&event), "cudaEventCreateWithFlags");
  }
  if (event == nullptr) return;
  check(runtime_.record_event(event, stream_), "cudaEventRecord");
  marks_.push_back({event, to});
}

// The distance of events is a 32-bit float of ms: the base moves on with every block, so that it
// stays exact.
void CudaStream::resolve_marks() {
  for (const RankGraph::Mark& mark : marks_) {
    read_moment(mark);
    spare_events_.push_back(mark.event);
  }
  marks_.clear();
  for (const auto& [key, graph] : graphs_) resolve_graph(*graph);
  if (!error_) set_base();
}

void CudaStream::read_moment(const RankGraph::Mark& mark) {
  float ms = 0;
  check(runtime_.elapsed_ms(&ms, base_, mark.event), "cudaEventElapsedTime");
  const std::int64_t ns = base_ns_ + std::llround(static_cast<double>(ms) * 1e6);
  *mark.to = {ns, ns};
}

void CudaStream::resolve_graph(RankGraph& graph) {
  if (!graph.has_moments()) return;
  for (const RankGraph::Mark& mark : graph.moments()) read_moment(mark);
}

void CudaStream::check(int error, const char* call) {
  if (error == kCudaSuccess || error_) return;
  error_ = std::make_unique<Error>(runtime_error(runtime_, error, call, place_));
}

void CudaStream::fail_with(const std::string& what, const std::string& cure) {
  if (!error_) error_ = std::make_unique<Error>(Error{ErrorKind::runtime, what, place_, "", cure});
}

Status CudaStream::status() const {
  if (error_) return fail(*error_);
  return {};
}

bool CudaStream::begin_graph(std::size_t key, std::span<Stream* const> joined) {
  if (!use_graphs_ || error_) return false;
  joined_.clear();
  for (Stream* stream : joined) joined_.push_back(static_cast<CudaStream*>(stream));
  std::unique_ptr<RankGraph>& graph = graphs_[key];
  if (graph == nullptr) {
    std::vector<NativeStream> streams{stream_};
    for (const CudaStream* other : joined_) streams.push_back(other->stream_);
    graph = std::make_unique<RankGraph>(runtime_, std::move(streams));
  }
  graph_ = graph.get();
  overflowed_ = false;
  graph_since_ = sequence_;
  for (CudaStream* other : joined_) {
    other->graph_ = graph_;
    other->graph_since_ = other->sequence_;
  }
  int error = kCudaSuccess;
  graph_->begin(error);
  check(error, "cudaStreamBeginCapture");
  resolve_graph(*graph_);
  return true;
}

GraphTurn CudaStream::end_graph() {
  int error = kCudaSuccess;
  const RankGraph::Turn turn = graph_->turn();
  const GraphTurn end = graph_->end(error);
  check(error, "cudaStreamEndCapture");
  if (end == GraphTurn::unfit) overflowed_ = turn == RankGraph::Turn::refill;
  if (end != GraphTurn::enqueued) return end;
  ++(overflowed_ ? graph_counts_.overflows : graph_counts_.direct);
  end_turn();
  return end;
}

void CudaStream::launch_graph() {
  for (CudaStream* other : joined_) wait_for(*other);
  int error = kCudaSuccess;
  graph_->launch(error);
  check(error, "cudaGraphLaunch");
  for (CudaStream* other : joined_) other->wait_for(*this);
  ++graph_counts_.launched;
  end_turn();
}

void CudaStream::wait_for(CudaStream& other) {
  const Event event = other.record_now();
  check(runtime_.wait_event(stream_, other.events_[event.sequence % kEvents]),
        "cudaStreamWaitEvent");
}

void CudaStream::begin_again() {
  if (graph_->is_ready()) overflowed_ = true;  // a peer is not
  graph_->begin_again();
}

void CudaStream::end_turn() {
  for (CudaStream* other : joined_) other->graph_ = nullptr;
  joined_.clear();
  graph_ = nullptr;
}

bool CudaStream::leaves_graph() {
  if (graph_ == nullptr) return false;
  graph_->give_up();
  return in_graph();
}

bool CudaStream::call_values(std::span<const std::int64_t> values) {
  if (graph_ == nullptr || !in_graph()) return true;
  const bool here = graph_->call(stream_);
  return graph_->note(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()) &&
         here;
}

void CudaStream::enqueue_kernel(const Task& task) {
  if (!in_graph()) return run_in_order(task);
  check(runtime_.host_function(stream_, run_task, &graph_->keep(task)), "cudaLaunchHostFunc");
}

void CudaStream::enqueue(const Task& task) {
  if (host_tasks_ == HostTasks::inline_) {
    if (!leaves_graph()) run_in_order(task);
    return;
  }
  if (!in_graph()) return run_in_order(task);
  Task& kept = graph_->task(task);
  if (!graph_->call(stream_, Noted::task)) return;
  check(runtime_.host_function(stream_, run_task, &kept), "cudaLaunchHostFunc");
}

void CudaStream::run_in_order(const Task& task) {
  if (host_tasks_ == HostTasks::inline_) {
    const Event before = record_now();
    check(runtime_.synchronize_event(events_[before.sequence % kEvents]), "cudaEventSynchronize");
    Task now = task;
    now();
    return;
  }
  const std::size_t slot = task_count_ % kTasks;
  const std::size_t block = slot / kTaskBlock;
  if (slot % kTaskBlock == 0 && task_count_ >= kTasks) {
    check(runtime_.synchronize_event(task_events_[block]), "cudaEventSynchronize");
  }
  tasks_[slot] = task;
  check(runtime_.host_function(stream_, run_task, &tasks_[slot]), "cudaLaunchHostFunc");
  ++task_count_;
  if (task_count_ % kTaskBlock == 0) {
    check(runtime_.record_event(task_events_[block], stream_), "cudaEventRecord");
  }
}

Event CudaStream::record() {
  if (!in_graph()) return record_now();
  int error = kCudaSuccess;
  const RankGraph::Point point = graph_->point(error);
  check(error, "cudaEventCreateWithFlags");
  ++sequence_;
  recorded_[sequence_ % kEvents] = {point.outside, graph_, point.inside};
  if (graph_->call(stream_, Noted::record)) {
    check(runtime_.record_event(point.inside, stream_), "cudaEventRecord");
    check(runtime_.record_event_outside(point.outside, stream_), "cudaEventRecordWithFlags");
  }
  return {static_cast<Stream*>(this), sequence_};
}

Event CudaStream::record_now() {
  ++sequence_;
  const NativeEvent event = events_[sequence_ % kEvents];
  recorded_[sequence_ % kEvents] = {event};
  check(runtime_.record_event(event, stream_), "cudaEventRecord");
  return {static_cast<Stream*>(this), sequence_};
}

// Work inside of a graph waits for other work of the graph by edges of it, and for what is outside
// before the graph is launched.
void CudaStream::wait(const Event& event) {
  auto* other = static_cast<CudaStream*>(static_cast<Stream*>(event.state));
  if (other == nullptr || other == this) return;
  const Recorded& recorded = other->recorded_[event.sequence % kEvents];
  if (!in_graph()) {
    check(runtime_.wait_event(stream_, recorded.event), "cudaStreamWaitEvent");
  } else if (recorded.graph != graph_ || event.sequence <= other->graph_since_) {
    graph_->wait_before(recorded.event);
  } else if (graph_->call(stream_, Noted::wait, recorded.inside)) {
    check(runtime_.wait_event(stream_, recorded.inside), "cudaStreamWaitEvent");
  }
}

void CudaStream::synchronize(const Event& event) {
  auto* other = static_cast<CudaStream*>(static_cast<Stream*>(event.state));
  if (other == nullptr) return;
  // In a direct turn it may be the wait of a first time (memory that grows): the capture will show.
  if (in_graph()) return graph_->give_up();
  check(runtime_.synchronize_event(other->recorded_[event.sequence % kEvents].event),
        "cudaEventSynchronize");
}

void* CudaStream::temporary(std::int64_t bytes) {
  if (graph_ != nullptr && graph_->turn() == RankGraph::Turn::refill) return graph_->memory(bytes);
  void* memory = nullptr;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  check(runtime_.allocate_async(&memory, wanted, stream_), "cudaMallocAsync");
  if (graph_ != nullptr && graph_->turn() == RankGraph::Turn::capture) {
    graph_->captured_memory(memory, bytes);
  }
  return memory;
}

void CudaStream::free_temporary(void* memory) {
  if (graph_ != nullptr && graph_->turn() == RankGraph::Turn::refill) return;
  if (memory != nullptr) check(runtime_.free_async(memory, stream_), "cudaFreeAsync");
}

// The pinned memory is two halves; a half is used again when its copies have run.
void CudaStream::enter_upload_half(std::size_t half) {
  const std::size_t left = 1 - half;
  check(runtime_.record_event(upload_events_[left], stream_), "cudaEventRecord");
  upload_used_[left] = true;
  if (!upload_used_[half]) return;
  check(runtime_.synchronize_event(upload_events_[half]), "cudaEventSynchronize");
  upload_used_[half] = false;
}

void CudaStream::upload(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0 || to == nullptr) return;
  if (graph_ != nullptr) {
    std::byte* list = graph_->list(bytes);
    if (in_graph()) {
      if (list == nullptr) return;
      std::memcpy(list, from, static_cast<std::size_t>(bytes));
      if (graph_->call(stream_, to, bytes)) {
        check(runtime_.copy_async(to, list, static_cast<std::size_t>(bytes), stream_),
              "cudaMemcpyAsync");
      }
      return;
    }
  }
  while (bytes > 0) {
    const std::int64_t piece = std::min(bytes, kUploadHalf);
    const std::int64_t half = upload_at_ / kUploadHalf;
    if (upload_at_ + piece > (half + 1) * kUploadHalf) {
      enter_upload_half(static_cast<std::size_t>(1 - half));
      upload_at_ = (1 - half) * kUploadHalf;
    }
    std::memcpy(upload_ + upload_at_, from, static_cast<std::size_t>(piece));
    check(runtime_.copy_async(to, upload_ + upload_at_, static_cast<std::size_t>(piece), stream_),
          "cudaMemcpyAsync");
    upload_at_ += (piece + kUploadAlignment - 1) / kUploadAlignment * kUploadAlignment;
    if (upload_at_ >= kUploadBytes) {
      enter_upload_half(0);
      upload_at_ = 0;
    }
    to = static_cast<std::byte*>(to) + piece;
    from = static_cast<const std::byte*>(from) + piece;
    bytes -= piece;
  }
}

void CudaStream::clear(void* to, std::int64_t bytes, int value) {
  if (bytes == 0 || to == nullptr || !call(to, bytes, value)) return;
  check(runtime_.set_async(to, value, static_cast<std::size_t>(bytes), stream_), "cudaMemsetAsync");
}

}  // namespace shardscope::engine::cuda
