// Threaded, inline and deferred streams of the cpu device.

#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/progress.hpp"
#include "engine/stream.hpp"
#include "profiler/clock.hpp"

namespace shardscope::engine {
namespace {

/// Calls a stream holds before enqueue waits (threaded) or runs the oldest (deferred).
constexpr std::uint64_t kRingTasks = 1024;
static_assert((kRingTasks & (kRingTasks - 1)) == 0);

constexpr unsigned long kTimerSlackNs = 1'000;

constexpr std::size_t kApart = 128;  ///< two cache lines, as they are fetched in pairs

/// Longest thread name Linux takes.
constexpr std::size_t kThreadNameLength = 15;

/// What an Event of the cpu device points at: the stream that recorded it. Sequence n is complete
/// when the first n calls have run.
class CpuStream : public Stream {
 public:
  [[nodiscard]] virtual bool complete(std::uint64_t sequence) const = 0;
  /// Returns when complete(sequence).
  virtual void reach(std::uint64_t sequence) = 0;

  void wait(const Event& event) final {
    auto* other = static_cast<CpuStream*>(event.state);
    if (other == nullptr || other == this || other->complete(event.sequence)) return;
    enqueue([event] { static_cast<CpuStream*>(event.state)->reach(event.sequence); });
  }

  void mark(Moment* to) final {
    enqueue([to] { *to = {steady_ns(), thread_cpu_ns()}; });
  }

  void synchronize(const Event& event) final {
    if (event.state != nullptr) static_cast<CpuStream*>(event.state)->reach(event.sequence);
  }
};

class ThreadedStream final : public CpuStream {
 public:
  explicit ThreadedStream(const char* name) : ring_(kRingTasks) {
    worker_ = std::thread([this] { work(); });
    const std::string short_name = std::string(name).substr(0, kThreadNameLength);
    pthread_setname_np(worker_.native_handle(), short_name.c_str());
  }

  ~ThreadedStream() override {
    enqueue([this] { stop_ = true; });
    worker_.join();
  }

  void enqueue(const Task& task) override {
    if (tail_ >= kRingTasks) completed_.wait(tail_ - kRingTasks + 1);
    ring_[tail_ % kRingTasks] = task;
    ++tail_;
    enqueued_.advance();
  }

  Event record() override { return {static_cast<CpuStream*>(this), tail_}; }

  bool complete(std::uint64_t sequence) const override { return completed_.reached(sequence); }
  void reach(std::uint64_t sequence) override { completed_.wait(sequence); }

 private:
  void work() {
    // Emulated wires sleep in here; the default slack would add 50 us to each of their delays.
    prctl(PR_SET_TIMERSLACK, kTimerSlackNs, 0, 0, 0);
    for (std::uint64_t next = 0; !stop_; ++next) {
      enqueued_.wait(next + 1);
      ring_[next % kRingTasks]();
      completed_.advance();
    }
  }

  std::vector<Task> ring_;
  std::uint64_t tail_ = 0;  ///< calls enqueued; the host thread's
  // Each thread writes one of the two: apart, and wherever the stream lies in memory.
  alignas(kApart) Progress enqueued_;
  alignas(kApart) Progress completed_;
  alignas(kApart) bool stop_ = false;  ///< the worker's
  std::thread worker_;
};

class InlineStream final : public CpuStream {
 public:
  void enqueue(const Task& task) override {
    Task copy = task;
    copy();
    ++count_;
  }
  Event record() override { return {static_cast<CpuStream*>(this), count_}; }
  bool complete(std::uint64_t sequence) const override { return sequence <= count_; }
  void reach(std::uint64_t /*sequence*/) override {}

 private:
  std::uint64_t count_ = 0;
};

class DeferredStream final : public CpuStream {
 public:
  DeferredStream() : ring_(kRingTasks) {}

  void enqueue(const Task& task) override {
    if (tail_ - head_ == kRingTasks) run_next();
    ring_[tail_ % kRingTasks] = task;
    ++tail_;
  }
  Event record() override { return {static_cast<CpuStream*>(this), tail_}; }
  bool complete(std::uint64_t sequence) const override { return sequence <= head_; }

  /// A call that waits for another stream runs that one's calls from here, on the same thread. Such
  /// calls can only ask for calls enqueued before themselves, so this never meets itself.
  void reach(std::uint64_t sequence) override {
    while (head_ < sequence) run_next();
  }

 private:
  void run_next() {
    Task task = ring_[head_ % kRingTasks];
    task();
    ++head_;
  }

  std::vector<Task> ring_;
  std::uint64_t head_ = 0;  ///< calls that have run
  std::uint64_t tail_ = 0;  ///< calls enqueued
};

}  // namespace

std::unique_ptr<Stream> make_cpu_stream(StreamMode mode, const char* name) {
  switch (mode) {
    case StreamMode::threaded:
      return std::make_unique<ThreadedStream>(name);
    case StreamMode::inline_:
      return std::make_unique<InlineStream>();
    case StreamMode::deferred:
      return std::make_unique<DeferredStream>();
  }
  return nullptr;
}

}  // namespace shardscope::engine
