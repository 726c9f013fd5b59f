#pragma once
// A stream of a GPU. Tasks of the host run in order between the kernels.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/rank_graph.hpp"
#include "engine/cuda/runtime_api.hpp"
#include "engine/stream.hpp"
#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// Pinned memory for what is copied to the device ahead of kernels.
inline constexpr std::int64_t kUploadBytes = std::int64_t{8} << 20;

/// Where tasks of the host run.
enum class HostTasks : std::uint8_t {
  queued,   ///< on a thread of the driver, when the stream comes there; they may not call CUDA
  inline_,  ///< on the calling thread, once the stream is idle (loopback: one rank after another)
};

class CudaStream final : public Stream {
 public:
  /// `place` names the stream's owner in errors. The runtime must outlive the stream.
  [[nodiscard]] static Result<std::unique_ptr<CudaStream>> create(const RuntimeApi& runtime,
                                                                  int device, std::string place,
                                                                  HostTasks tasks,
                                                                  bool graphs = false);
  ~CudaStream() override;

  void enqueue(const Task& task) override;
  Event record() override;
  void wait(const Event& event) override;
  void synchronize(const Event& event) override;
  /// By events of the GPU: to 1 us within a block of seconds; streams agree within what the host
  /// takes to see an event (about 10 us).
  void mark(Moment* to) override;
  void resolve_marks() override;
  [[nodiscard]] bool has_device_clock() const override { return true; }
  /// The joined streams are CudaStreams of the same GPU.
  [[nodiscard]] bool begin_graph(std::size_t key, std::span<Stream* const> joined = {}) override;
  [[nodiscard]] GraphTurn end_graph() override;
  void launch_graph() override;
  void begin_again() override;
  [[nodiscard]] bool has_graphs() const override { return use_graphs_; }
  [[nodiscard]] GraphCounts graph_counts() const override { return graph_counts_; }

  [[nodiscard]] NativeStream native() const { return stream_; }
  [[nodiscard]] const RuntimeApi& runtime() const { return runtime_; }
  [[nodiscard]] int device() const { return device_; }

  /// Memory until free_temporary(); null after a failure.
  [[nodiscard]] void* temporary(std::int64_t bytes);
  void free_temporary(void* memory);
  /// Enqueues the copy of host values that need not outlive the call.
  void upload(void* to, const void* from, std::int64_t bytes);
  void clear(void* to, std::int64_t bytes, int value = 0);
  /// Whoever enqueues work on native() asks first, with all that the work depends on but the
  /// contents of uploaded lists and the number of blocks. False: leave it out, a graph has it.
  template <class... Values>
  [[nodiscard]] bool call(const Values&... values) {
    return graph_ == nullptr || graph_->call(stream_, values...);
  }
  /// The same, of values that follow each other in memory without gaps.
  [[nodiscard]] bool call_values(std::span<const std::int64_t> values);
  /// What is enqueued goes into a graph, or is one's already.
  [[nodiscard]] bool in_graph() const {
    return graph_ != nullptr && graph_->turn() != RankGraph::Turn::direct;
  }
  /// How many elements to work on where `count` are needed: more inside a graph, so that it serves
  /// other iterations too.
  [[nodiscard]] std::int64_t room(std::int64_t count) {
    return graph_ == nullptr ? count : graph_->room(count);
  }
  /// The elements behind those needed exist and are to be given a value.
  [[nodiscard]] bool is_padded() const { return in_graph(); }
  /// A kernel of the harness.
  void enqueue_kernel(const Task& task);
  /// Takes a call's error number; the first one other than 0 stays.
  void check(int error, const char* call);
  /// The stream has failed with that, if it has not before.
  void fail_with(const std::string& what, const std::string& cure);
  /// The first failure of the stream.
  [[nodiscard]] Status status() const override;

 private:
  CudaStream(const RuntimeApi& runtime, int device, std::string place, HostTasks tasks,
             bool graphs);
  /// What record() stands for: an event, and inside of a graph the one that its streams wait for.
  struct Recorded {
    NativeEvent event = nullptr;
    const RankGraph* graph = nullptr;
    NativeEvent inside = nullptr;
  };

  void run_in_order(const Task& task);
  Event record_now();
  /// True inside a graph that is captured or filled: what no graph can hold ends that.
  bool leaves_graph();
  void wait_for(CudaStream& other);
  void end_turn();
  void resolve_graph(RankGraph& graph);
  void read_moment(const RankGraph::Mark& mark);
  [[nodiscard]] Status open();
  void enter_upload_half(std::size_t half);
  /// Ties the GPU's clock to the host's. The stream is idle.
  void set_base();

  const RuntimeApi& runtime_;
  int device_;
  std::string place_;
  HostTasks host_tasks_;
  bool use_graphs_;
  std::map<std::size_t, std::unique_ptr<RankGraph>> graphs_;  ///< that this stream launches
  RankGraph* graph_ = nullptr;  ///< from begin_graph() on: of this stream, or one it has joined
  std::vector<CudaStream*> joined_;
  std::uint64_t graph_since_ = 0;  ///< sequence at its begin
  GraphCounts graph_counts_;
  bool overflowed_ = false;  ///< the turn in hand, of a graph that was there
  NativeStream stream_ = nullptr;
  std::vector<NativeEvent> events_;  ///< by sequence; a reused one stands for a later moment
  std::vector<Recorded> recorded_;   ///< likewise
  std::uint64_t sequence_ = 0;
  std::vector<Task> tasks_;  ///< by number; reused when the event behind them has come
  std::uint64_t task_count_ = 0;
  std::vector<NativeEvent> task_events_;
  std::vector<RankGraph::Mark> marks_;     ///< not resolved yet
  std::vector<NativeEvent> spare_events_;  ///< for marks
  NativeEvent base_ = nullptr;
  std::int64_t base_ns_ = 0;  ///< steady_ns() at base_
  std::byte* upload_ = nullptr;
  std::int64_t upload_at_ = 0;
  NativeEvent upload_events_[2] = {nullptr, nullptr};
  bool upload_used_[2] = {false, false};
  std::unique_ptr<Error> error_;
};

}  // namespace shardscope::engine::cuda
