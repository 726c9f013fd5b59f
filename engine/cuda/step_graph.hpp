#pragma once
// What a stream is given between begin_graph() and end_graph() as a graph of the GPU.
//
// The first time it runs as it is and is measured, the second time it is captured, then launched at
// every turn. The host goes through the same calls each time, for the lists they bring: their
// copies in the graph read pinned memory of its own, which is filled anew before every launch. The
// calls must be those of the capture; sizes may grow up to the capacity kept then (an
// eighth more than was needed). Where they do not fit, that turn runs without the graph and the graph is
// captured again later.

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

class StepGraph {
 public:
  enum class Turn : std::uint8_t {
    direct,   ///< enqueued as it comes, and measured
    capture,  ///< enqueued into the graph
    refill,   ///< compared, and its lists written for the next launch
  };

  /// The runtime must outlive the graph. Destroyed once the stream is idle.
  explicit StepGraph(const RuntimeApi& runtime) : runtime_(runtime) {}
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Begins the next turn; waits for the graph's last launch before its lists are written. An
  /// error number of the runtime goes to `error`. Where the driver takes no capture, turns stay
  /// direct.
  void begin(NativeStream stream, int& error);
  /// Enqueues what was captured or filled anew. False: nothing was enqueued, the calls do not fit.
  /// They are made again between begin_again() and end().
  [[nodiscard]] bool end(NativeStream stream, int& error);
  /// A direct turn.
  void begin_again();
  [[nodiscard]] Turn turn() const { return turn_; }

  // Calls of the stream, in order; each says what the stream does with it.

  /// True: the call is to be made. Its values are compared byte by byte.
  template <class... Values>
  [[nodiscard]] bool call(const Values&... values) {
    static_assert((kComparable<Values> && ...));
    std::byte bytes[(sizeof(Values) + ... + 0)];
    std::size_t at = 0;
    ((std::memcpy(bytes + at, &values, sizeof(Values)), at += sizeof(Values)), ...);
    return note(bytes, at);
  }
  /// Elements to make room for where `count` are needed now.
  [[nodiscard]] std::int64_t room(std::int64_t count);
  /// A refill takes the memory of the capture: null where there is none.
  [[nodiscard]] void* memory(std::int64_t bytes);
  void captured_memory(void* memory, std::int64_t bytes);
  /// Pinned memory that a list is written to, to be copied from there if call() says so; null in a
  /// direct turn and where there is none.
  [[nodiscard]] std::byte* list(std::int64_t bytes);
  /// The turn holds something that no graph can (a task of the host, a wait).
  void give_up();
  /// A copy of the task that lasts as long as the graph (kernels of the harness).
  [[nodiscard]] Task& keep(const Task& task) { return tasks_.emplace_back(task); }

 private:
  struct Memory {
    void* at;
    std::int64_t bytes;
  };

  [[nodiscard]] bool note(const std::byte* bytes, std::size_t count);
  void drop();
  [[nodiscard]] bool begin_capture(NativeStream stream);
  [[nodiscard]] bool finish_capture(NativeStream stream, int& error);

  const RuntimeApi& runtime_;
  Turn turn_ = Turn::direct;
  int failures_ = 0;  ///< captures that did not last
  bool measured_ = false;
  bool fits_ = true;  ///< this turn, so far
  std::vector<std::byte> calls_;
  std::vector<Memory> memories_;
  std::vector<std::int64_t> rooms_;  ///< most that was needed; from a capture on what is kept
  std::deque<Task> tasks_;
  std::size_t next_call_ = 0, next_memory_ = 0, next_room_ = 0;
  std::byte* lists_ = nullptr;
  std::int64_t lists_bytes_ = 0;
  std::int64_t lists_used_ = 0;
  NativeGraph executable_ = nullptr;
  NativeEvent launched_ = nullptr;
};

}  // namespace shardscope::engine::cuda
