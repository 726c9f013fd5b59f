#pragma once
// The order of an iteration as a value: the engine executes it, the simulator prices it; neither
// has a copy of its own.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"

namespace shardscope {

/// Iteration stages. The same names in traces, databases, charts and predictions.
enum class Stage : std::uint8_t {
  input_dist,       ///< ids travel to the owners of their rows
  model_forward,    ///< lookup, and pooling at the owner (DP, RB)
  network_forward,  ///< vectors travel to the samples' ranks and are combined there
  dense_forward,
  dense_backward,
  network_backward,   ///< gradients travel to the owners
  index_calculation,  ///< sort and dedup of the ids an owner received
  local_reduce,       ///< gradients of one row summed
  allreduce,          ///< dense and DP gradients
  update,             ///< optimizer
};

inline constexpr int kStages = 10;

[[nodiscard]] const char* to_string(Stage value);

/// Whether ranks exchange ids, vectors or gradients in that stage.
[[nodiscard]] bool is_exchange(Stage stage);

/// What a step works on: an embedding cluster or a piece of the dense part.
enum class Work : std::uint8_t { DP, RB, UB, bottom_mlp, top_mlp, dense };

inline constexpr int kWorks = 6;

[[nodiscard]] const char* to_string(Work value);
[[nodiscard]] constexpr Work work_of(ClusterType type) {
  return static_cast<Work>(type);
}

/// One step of an iteration. Steps of one stream run in order of the list; `waits` adds edges.
struct ScheduleStep {
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  std::uint8_t stream = 0;
  /// Indices of earlier steps of the same iteration that must have finished.
  std::vector<std::uint16_t> waits;
  /// Prefetch: the step works on the next iteration's batch (its results are double-buffered).
  bool next_batch = false;

  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

enum class ScheduleKind : std::uint8_t {
  serial,  ///< one stream, every stage after the other
  intra,   ///< exchanges overlap the dense part of the same iteration
  inter,   ///< intra, and the next batch's input_dist overlaps the backward pass
};

[[nodiscard]] const char* to_string(ScheduleKind value);

/// Steps in an order that is valid to enqueue. An iteration ends when all its steps have; the next
/// starts then, except for steps with next_batch, whose results it uses.
struct Schedule {
  ScheduleKind kind = ScheduleKind::serial;
  std::uint8_t streams = 1;
  std::vector<ScheduleStep> steps;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Which clusters and dense parts an iteration has.
struct SchedulePresence {
  bool dp = false;
  bool rb = false;
  bool ub = false;
  bool dense = false;

  /// Whether an iteration has steps of that work.
  [[nodiscard]] bool has(Work work) const;

  friend bool operator==(const SchedulePresence&, const SchedulePresence&) = default;
};

[[nodiscard]] SchedulePresence presence_of(const Workload& workload, const Layout& layout);

/// The engine's schedule of that kind (the order of HugeCTR's pipeline: intra- and inter-iteration
/// overlap) with only the steps that the presence asks for.
[[nodiscard]] Schedule make_schedule(ScheduleKind kind, const SchedulePresence& presence);

}  // namespace shardscope
