#pragma once
// A stream of a GPU. Tasks of the host run in order between the kernels.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
                                                                  HostTasks tasks);
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

  [[nodiscard]] NativeStream native() const { return stream_; }
  [[nodiscard]] const RuntimeApi& runtime() const { return runtime_; }
  [[nodiscard]] int device() const { return device_; }

  /// Memory until free_temporary(); null after a failure.
  [[nodiscard]] void* temporary(std::int64_t bytes);
  void free_temporary(void* memory);
  /// Enqueues the copy of host values that need not outlive the call.
  void upload(void* to, const void* from, std::int64_t bytes);
  void clear(void* to, std::int64_t bytes);
  /// Takes a call's error number; the first one other than 0 stays.
  void check(int error, const char* call);
  /// The first failure of the stream.
  [[nodiscard]] Status status() const override;

 private:
  CudaStream(const RuntimeApi& runtime, int device, std::string place, HostTasks tasks);
  [[nodiscard]] Status open();
  void enter_upload_half(std::size_t half);
  /// Ties the GPU's clock to the host's. The stream is idle.
  void set_base();

  const RuntimeApi& runtime_;
  int device_;
  std::string place_;
  HostTasks host_tasks_;
  NativeStream stream_ = nullptr;
  std::vector<NativeEvent> events_;  ///< by sequence; a reused one stands for a later moment
  std::uint64_t sequence_ = 0;
  std::vector<Task> tasks_;  ///< by number; reused when the event behind them has come
  std::uint64_t task_count_ = 0;
  std::vector<NativeEvent> task_events_;
  struct Mark {
    NativeEvent event = nullptr;
    Moment* to = nullptr;
  };
  std::vector<Mark> marks_;                ///< not resolved yet
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
