#pragma once
// A rank's FIFO of work and the events that order several of them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "layout/result.hpp"

namespace shardscope::engine {

/// A callable in fixed storage: enqueuing never allocates. Captures must be trivially copyable and
/// at most kCapacity bytes (capture a pointer to more).
class Task {
 public:
  static constexpr std::size_t kCapacity = 120;

  Task() = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Task>)
      Task(F&& function) {  // NOLINT(google-explicit-constructor): a lambda is a task
    using Function = std::remove_cvref_t<F>;
    static_assert(sizeof(Function) <= kCapacity, "capture a pointer instead");
    static_assert(std::is_trivially_copyable_v<Function>, "capture plain values");
    ::new (static_cast<void*>(storage_)) Function(std::forward<F>(function));
    call_ = [](void* storage) { (*std::launder(reinterpret_cast<Function*>(storage)))(); };
  }
  void operator()() {
    if (call_ != nullptr) call_(storage_);
  }

 private:
  alignas(std::max_align_t) std::byte storage_[kCapacity] = {};
  void (*call_)(void*) = nullptr;
};

/// A point in a stream, copied by value. `state` belongs to the device that made it; `sequence`
/// is the record it stands for.
struct Event {
  void* state = nullptr;
  std::uint64_t sequence = 0;
};

/// A moment on a stream, in ns of steady_ns(). `busy_ns` is the clock of the stream's own work: CPU
/// time of its thread, or the device's time.
struct Moment {
  std::int64_t ns = 0;
  std::int64_t busy_ns = 0;
};

/// What became of the parts of a run that may run as graphs.
struct GraphCounts {
  std::int64_t direct = 0;     ///< the first time each, and those that no graph can hold
  std::int64_t launched = 0;   ///< as graphs
  std::int64_t overflows = 0;  ///< did not fit their graph, or a peer's: ran without it

  GraphCounts& operator+=(const GraphCounts& other) {
    direct += other.direct;
    launched += other.launched;
    overflows += other.overflows;
    return *this;
  }
};

/// What has become of the calls of a graph when they have all been made.
enum class GraphTurn : std::uint8_t {
  enqueued,  ///< each as it came
  ready,     ///< none yet: a graph has them, it is to be launched
  unfit,     ///< none, and no graph has them: they do not fit it
};

/// FIFO of one rank. Calls return at once; work runs in order. Not thread-safe: one host thread a
/// rank enqueues. A stream's events must not be waited on after it is gone: synchronize all streams
/// of a rank before destroying the first.
class Stream {
 public:
  /// Runs what is left first, except in a deferred stream, which drops what nobody asked for.
  virtual ~Stream() = default;

  /// Never allocates. With a full queue it waits for room.
  virtual void enqueue(const Task& task) = 0;
  /// An event that is complete when everything enqueued before has run.
  [[nodiscard]] virtual Event record() = 0;
  /// Work enqueued after this starts only when the event is complete.
  virtual void wait(const Event& event) = 0;
  /// Blocks the host until the event is complete.
  virtual void synchronize(const Event& event) = 0;
  /// Writes the moment when the stream comes there. `to` is filled once the stream is synchronized
  /// and resolve_marks() has returned, and stays valid until then.
  virtual void mark(Moment* to) = 0;
  virtual void resolve_marks() {}
  /// True where moments come from the device's clock, at resolve_marks().
  [[nodiscard]] virtual bool has_device_clock() const { return false; }
  /// What is enqueued on this stream and on `joined` until end_graph() may run as one graph of the
  /// device, told by `key` from the others of the stream. It starts behind all that was enqueued on
  /// them before and on what its work waits for; they go on behind it. False: it will not run as a
  /// graph, end_graph() must not be called.
  [[nodiscard]] virtual bool begin_graph(std::size_t /*key*/,
                                         std::span<Stream* const> /*joined*/ = {}) {
    return false;
  }
  /// Behind the last call of it.
  [[nodiscard]] virtual GraphTurn end_graph() { return GraphTurn::enqueued; }
  /// Behind GraphTurn::ready.
  virtual void launch_graph() {}
  /// Behind GraphTurn::ready or unfit: the same is enqueued once more, without the graph, then
  /// end_graph() called again.
  virtual void begin_again() {}
  /// Whether begin_graph() may ever be true.
  [[nodiscard]] virtual bool has_graphs() const { return false; }
  [[nodiscard]] virtual GraphCounts graph_counts() const { return {}; }
  /// The first failure of the device on this stream; what is enqueued after it may not run.
  [[nodiscard]] virtual Status status() const { return {}; }
};

/// How a cpu stream runs its work.
enum class StreamMode : std::uint8_t {
  threaded,  ///< a worker thread a stream
  inline_,   ///< at once on the host thread (loopback: one rank after another)
  deferred,  ///< nothing runs before a wait or synchronize asks for it (or the queue of 1,024 calls
             ///< is full): shows missing waits
};

/// A cpu stream. `name` is the thread's name in a debugger.
[[nodiscard]] std::unique_ptr<Stream> make_cpu_stream(StreamMode mode, const char* name);

/// What `enqueue` enqueues on the stream and on `joined` as one graph of the device, where the
/// stream has graphs; see begin_graph(). `agree(ready)` is asked each time whether the graph may be
/// launched.
template <class Enqueue, class Agree>
void enqueue_as_graph(Stream& stream, std::size_t key, std::span<Stream* const> joined,
                      const Enqueue& enqueue, const Agree& agree) {
  if (!stream.begin_graph(key, joined)) {
    enqueue();
    static_cast<void>(agree(false));
    return;
  }
  enqueue();
  const GraphTurn turn = stream.end_graph();
  if (agree(turn == GraphTurn::ready)) {
    stream.launch_graph();
  } else if (turn != GraphTurn::enqueued) {
    stream.begin_again();
    enqueue();
    static_cast<void>(stream.end_graph());
  }
}

}  // namespace shardscope::engine
