#pragma once
// Where records go. storage implements it, app injects it; the engine never names storage.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/codec_work.hpp"
#include "profiler/span.hpp"

namespace shardscope {

/// Everything that must be known to repeat a run. JSON texts are the versioned formats.
struct RunInfo {
  std::string label;  ///< "A", "B" or free text
  Mode mode = Mode::measured;
  Executor executor = Executor::engine;
  std::string backend;   ///< cpu | cuda | sim
  std::string comm;      ///< threads | loopback | nccl
  std::string wire;      ///< throttle as given, or empty
  std::string schedule;  ///< serial | intra | inter
  std::string workload_json;
  std::string topology_json;
  std::string layout_json;
  std::string environment_json;
  std::uint64_t seed = 0;
  std::int64_t global_batch = 0;  ///< samples an iteration
  std::int64_t rows_cap = 0;      ///< tables were shrunk to so many rows; 0: they were not
  std::int32_t ranks = 0;
  std::int64_t epoch_ns =
      0;  ///< steady_ns() that the run's times count from; 0: begin_run's moment
  std::vector<GpuInfo> gpus;  ///< devices that ActivityRecord::device counts; empty on the CPU
};

/// A finished run's figures.
struct RunSummary {
  double samples_per_s = 0;
  double iteration_ms = 0;
  double critical_path_ms = 0;
  double tracing_overhead = 0;  ///< traced / untraced - 1
  bool complete = true;         ///< false: cancelled or failed; what was measured is kept
  std::string message;
};

/// Calls come from the recorders' drain threads, collectors and the runs' owners, never from a
/// rank's timed path. None of them blocks on a slow disk longer than its queue is full.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  /// Opens a run and returns its id.
  [[nodiscard]] virtual Result<std::int64_t> begin_run(const RunInfo& info) = 0;
  virtual void spans(std::int64_t run, std::span<const Span> batch) = 0;
  virtual void iterations(std::int64_t run, std::span<const Iteration> batch) = 0;
  virtual void activities(std::int64_t run, std::span<const ActivityRecord> batch) = 0;
  /// What codecs did in the traced iterations; sinks that do not care leave it.
  virtual void codec_work(std::int64_t /*run*/, std::span<const CodecWork> /*batch*/) {}
  /// Records that were lost before they reached the sink.
  virtual void dropped(std::int64_t run, std::int64_t count) = 0;
  [[nodiscard]] virtual Status end_run(std::int64_t run, const RunSummary& summary) = 0;
};

}  // namespace shardscope
