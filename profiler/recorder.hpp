#pragma once
// Takes spans from the ranks' timed paths and hands them to a RecordSink from a thread of its own.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/clock.hpp"
#include "profiler/record_sink.hpp"
#include "profiler/span.hpp"
#include "profiler/spsc_ring.hpp"

namespace shardscope {

struct RecorderConfig {
  std::int32_t ranks = 1;
  std::int32_t streams = 1;  ///< per rank
  /// Spans a rank-stream holds between two visits of the drain thread (64 bytes each).
  std::size_t spans_per_stream = std::size_t{1} << 13;
  std::size_t iterations = std::size_t{1} << 12;
  std::chrono::milliseconds drain_period{20};
  /// steady_ns() at the run's start: what every time of the run counts from. 0: construction.
  std::int64_t epoch_ns = 0;
};

/// One run's recorder: a ring a rank-stream, one thread that drains them all.
///
/// record(span) belongs to the thread that runs that (rank, stream): one thread at a time, handed
/// over only with synchronisation. It costs a copy of 64 bytes, and neither allocates, locks nor
/// calls the system. What does not fit is dropped, counted, and reported to the sink.
class Recorder {
 public:
  /// `sink` outlives the recorder; `run` is an id that sink.begin_run() returned.
  Recorder(RecordSink& sink, std::int64_t run, const RecorderConfig& config);
  /// Flushes, then stops the drain thread.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// False: the ring was full, the span is lost and counted.
  bool record(const Span& span) { return ring(span.rank, span.stream).push(span); }
  /// From one thread at a time (the run's owner). False: lost and counted.
  bool record(const Iteration& iteration) { return iterations_.push(iteration); }

  /// Returns when everything recorded before the call has been handed to the sink. Not from a
  /// timed path. Call before RecordSink::end_run.
  void flush();

  /// Nanoseconds since the run's start: the time base of spans and iterations.
  [[nodiscard]] std::int64_t now_ns() const { return steady_ns() - epoch_ns_; }
  [[nodiscard]] std::int64_t epoch_ns() const { return epoch_ns_; }
  [[nodiscard]] std::int64_t run() const { return run_; }
  /// Spans and iterations lost so far.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  SpscRing<Span>& ring(std::int32_t rank, std::int32_t stream);
  void drain_until_stopped();
  void drain_once();
  void report_drops();

  RecordSink& sink_;
  std::int64_t run_;
  std::int32_t ranks_;
  std::int32_t streams_;
  std::int64_t epoch_ns_;
  std::chrono::milliseconds drain_period_;
  std::vector<std::unique_ptr<SpscRing<Span>>> rings_;  ///< by rank * streams + stream
  SpscRing<Iteration> iterations_;
  std::int64_t drops_reported_ = 0;  ///< drain thread only

  std::mutex mutex_;  ///< guards the members below; never taken by record()
  std::condition_variable wake_;
  std::condition_variable drained_;
  std::uint64_t passes_wanted_ = 0;
  std::uint64_t passes_done_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

[[noreturn]] void recorder_index_failed(std::int32_t rank, std::int32_t stream);

inline SpscRing<Span>& Recorder::ring(std::int32_t rank, std::int32_t stream) {
  if (rank < 0 || rank >= ranks_ || stream >= streams_) recorder_index_failed(rank, stream);
  return *rings_[static_cast<std::size_t>(rank) * static_cast<std::size_t>(streams_) +
                 static_cast<std::size_t>(stream)];
}

}  // namespace shardscope
