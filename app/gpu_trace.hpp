#pragma once
// CUPTI's record of one run. Once a process and before its first CUDA call: whoever traces runs in
// a process of its own, and measures no throughput there.

#include <memory>
#include <optional>

#include "app/gpu_access.hpp"
#include "layout/result.hpp"
#include "profiler/cupti_collector.hpp"
#include "profiler/record_sink.hpp"

namespace shardscope::app {

class GpuTrace {
 public:
  /// Never fails: without CUPTI, or with another profiler attached, the run goes on untraced and
  /// refusal() says why.
  [[nodiscard]] static std::unique_ptr<GpuTrace> start(const RunOptions& options,
                                                       const Topology& topology);
  ~GpuTrace();
  GpuTrace(const GpuTrace&) = delete;
  GpuTrace& operator=(const GpuTrace&) = delete;

  /// Hears of the ranks' steps; null where nothing is traced.
  [[nodiscard]] std::shared_ptr<WorkTracer> tracer() const;
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }

  /// Records go to that run from now on, those from behind its epoch that came before included.
  void attach(RecordSink& sink, std::int64_t run, std::int64_t epoch_ns);
  /// Behind the run's work, before it is closed: the rest of the records.
  void finish();
  /// Valid after finish().
  [[nodiscard]] cupti::DecodeCounts counts() const;

 private:
  class Records;
  GpuTrace();

  std::optional<Error> refusal_;
  std::unique_ptr<Records> records_;
  std::shared_ptr<cupti::Collector> collector_;  ///< hands on to records_: goes first
};

}  // namespace shardscope::app
