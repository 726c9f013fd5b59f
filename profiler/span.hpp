#pragma once
// One timed piece of work of one rank, and the summaries made of spans. Plain values.

#include <cstdint>

#include "layout/executor.hpp"
#include "layout/schedule.hpp"

namespace shardscope {

/// What a time means. The word is in every record, table, file and screen.
enum class Mode : std::uint8_t {
  measured,   ///< wall clock of the backend that ran
  emulated,   ///< kernels real, wires modelled or throttled
  simulated,  ///< nothing ran
};

[[nodiscard]] const char* to_string(Mode value);

/// A stage of one rank in one iteration. Times are ns since the run's start.
struct Span {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;      ///< thread CPU time inside, waits excluded; 0 where unknown
  std::int64_t intra_bytes = 0;  ///< sent by this rank
  std::int64_t inter_bytes = 0;
  std::int64_t rows = 0;  ///< ids or rows the stage worked on
  std::int32_t iteration = 0;
  std::int32_t rank = 0;
  Stage stage = Stage::input_dist;
  Work work = Work::RB;
  std::uint8_t stream = 0;
  /// A span of its own that is nothing but waiting for peers: sums keep it apart, so it may lie
  /// beside or inside the stage's working span.
  bool waiting = false;

  friend bool operator==(const Span&, const Span&) = default;
};

/// One iteration of a run, all ranks.
struct Iteration {
  std::int32_t index = 0;
  std::int32_t block = 0;  ///< interleaved block it belongs to
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< of the slowest rank
  bool warm_up = false;     ///< excluded from every figure
  bool traced = false;      ///< spans were recorded
  double loss = 0;          ///< mean over the global batch; NaN without a dense part

  friend bool operator==(const Iteration&, const Iteration&) = default;
};

}  // namespace shardscope
