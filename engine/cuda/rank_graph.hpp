#pragma once
// What a rank enqueues on some of its streams between begin_graph() and end_graph(), as one graph
// of the GPU.
//
// The first time it runs as it is and is measured, the second time it is captured, then launched at
// every turn. The host goes through the same calls each time, for what they bring: copies of lists
// in the graph read pinned memory of its own, tasks of the host stand in it by place; both are
// filled anew before every launch. The calls must be those of the capture; sizes may grow up to the
// capacity kept then (an eighth more than was needed). Where they do not fit, that turn runs
// without the graph and the graph is captured again later.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>
#include <vector>

#include "engine/cuda/runtime_api.hpp"
#include "engine/stream.hpp"

namespace shardscope::engine::cuda {

/// What an argument of a call is compared by.
template <class T>
inline constexpr bool kComparable =
    std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_enum_v<T> ||
    std::has_unique_object_representations_v<T>;

class RankGraph {
 public:
  enum class Turn : std::uint8_t {
    direct,   ///< enqueued as it comes, and measured
    capture,  ///< enqueued into the graph
    refill,   ///< compared, and its lists written for the next launch
  };

  /// A place on a stream that others wait for: in the graph, or outside of it.
  struct Point {
    NativeEvent inside = nullptr;
    NativeEvent outside = nullptr;
  };
  /// A moment that every launch measures, and where the last one's is wanted.
  struct Mark {
    NativeEvent event = nullptr;
    Moment* to = nullptr;
  };

  /// The first of the streams launches. The runtime must outlive the graph. Destroyed once the
  /// streams are idle.
  RankGraph(const RuntimeApi& runtime, std::vector<NativeStream> streams);
  ~RankGraph();
  RankGraph(const RankGraph&) = delete;
  RankGraph& operator=(const RankGraph&) = delete;

  /// Begins the next turn; waits for the graph's last launch before its lists are written. An
  /// error number of the runtime goes to `error`. Where the driver takes no capture, turns stay
  /// direct.
  void begin(int& error);
  [[nodiscard]] GraphTurn end(int& error);
  /// Behind GraphTurn::ready: enqueues what was captured or filled anew, behind the events that
  /// its work waits for.
  void launch(int& error);
  /// Instead, or behind GraphTurn::unfit: a direct turn.
  void begin_again();
  [[nodiscard]] Turn turn() const { return turn_; }
  /// A captured or filled graph is there to be launched.
  [[nodiscard]] bool is_ready() const { return turn_ != Turn::direct && executable_ != nullptr; }

  // Calls of the streams, in order; each says what the stream does with it.

  /// True: the call is to be made. Its values are compared byte by byte.
  template <class... Values>
  [[nodiscard]] bool call(const Values&... values) {
    static_assert((kComparable<Values> && ...));
    std::byte bytes[(sizeof(Values) + ... + 0)];
    std::size_t at = 0;
    ((std::memcpy(bytes + at, &values, sizeof(Values)), at += sizeof(Values)), ...);
    return note(bytes, at);
  }
  [[nodiscard]] bool note(const std::byte* bytes, std::size_t count);
  /// Elements to make room for where `count` are needed now.
  [[nodiscard]] std::int64_t room(std::int64_t count);
  /// A refill takes the memory of the capture: null where there is none.
  [[nodiscard]] void* memory(std::int64_t bytes);
  void captured_memory(void* memory, std::int64_t bytes);
  /// Pinned memory that a list is written to, to be copied from there if call() says so; null in a
  /// direct turn and where there is none.
  [[nodiscard]] std::byte* list(std::int64_t bytes);
  /// The turn holds something that no graph can (a wait of the host).
  void give_up();
  /// The next place that is waited for, the next moment, the next task of the host. In captures and
  /// refills.
  [[nodiscard]] Point point(int& error);
  [[nodiscard]] NativeEvent mark(Moment* to, int& error);
  [[nodiscard]] Task& task(const Task& task);
  /// A copy of the task that lasts as long as the capture (kernels of the harness).
  [[nodiscard]] Task& keep(const Task& task) { return kernels_.emplace_back(task); }
  /// The graph's work waits for an event outside.
  void wait_before(NativeEvent event) { before_.push_back(event); }

  /// Moments of the last launch that nobody has read yet.
  [[nodiscard]] bool has_moments() const { return has_moments_; }
  [[nodiscard]] const std::vector<Mark>& moments() {
    has_moments_ = false;
    return marks_;
  }

 private:
  struct Memory {
    void* at;
    std::int64_t bytes;
  };

  void drop();
  [[nodiscard]] bool begin_capture();
  [[nodiscard]] bool finish_capture(int& error);
  [[nodiscard]] NativeEvent new_event(int& error);

  const RuntimeApi& runtime_;
  std::vector<NativeStream> streams_;
  std::vector<NativeEvent> forks_;  ///< by stream: where it joins the capture, and the first again
  Turn turn_ = Turn::direct;
  int failures_ = 0;  ///< captures that did not last
  bool measured_ = false;
  bool fits_ = true;  ///< this turn, so far
  std::vector<std::byte> calls_;
  std::vector<Memory> memories_;
  std::vector<std::int64_t> rooms_;  ///< most that was needed; from a capture on what is kept
  std::vector<Point> points_;
  std::vector<Mark> marks_;
  bool has_moments_ = false;
  std::deque<Task> tasks_, kernels_;
  std::size_t next_call_ = 0, next_memory_ = 0, next_room_ = 0;
  std::size_t next_point_ = 0, next_mark_ = 0, next_task_ = 0;
  std::vector<NativeEvent> before_;
  std::byte* lists_ = nullptr;
  std::int64_t lists_bytes_ = 0;
  std::int64_t lists_used_ = 0;
  NativeGraph executable_ = nullptr;
  NativeEvent launched_ = nullptr;
  std::vector<NativeEvent> events_;  ///< all that were made
};

}  // namespace shardscope::engine::cuda
