#include "app/gpu_trace.hpp"

#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace shardscope::app {

/// Keeps records until the run is known that they belong to; the collector's times have no epoch.
class GpuTrace::Records final : public RecordSink {
 public:
  void attach(RecordSink& sink, std::int64_t run, std::int64_t epoch_ns) {
    std::vector<ActivityRecord> early;
    std::int64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      sink_ = &sink;
      run_ = run;
      epoch_ns_ = epoch_ns;
      early = std::exchange(early_, {});
      dropped = std::exchange(dropped_, 0);
    }
    activities(run, early);
    if (dropped > 0) sink.dropped(run, dropped);
  }

  void activities(std::int64_t /*run*/, std::span<const ActivityRecord> batch) override {
    std::vector<ActivityRecord> records;
    RecordSink* sink = nullptr;
    {
      const std::lock_guard lock(mutex_);
      sink = sink_;
      if (sink == nullptr) {
        early_.insert(early_.end(), batch.begin(), batch.end());
        return;
      }
    }
    for (const ActivityRecord& record : batch) {
      if (record.start_ns < epoch_ns_) continue;  // of what came before the run
      records.push_back(record);
      records.back().start_ns -= epoch_ns_;
      records.back().end_ns -= epoch_ns_;
    }
    if (!records.empty()) sink->activities(run_, records);
  }
  void dropped(std::int64_t /*run*/, std::int64_t count) override {
    RecordSink* sink = nullptr;
    {
      const std::lock_guard lock(mutex_);
      sink = sink_;
      if (sink == nullptr) dropped_ += count;
    }
    if (sink != nullptr) sink->dropped(run_, count);
  }
  Result<std::int64_t> begin_run(const RunInfo& /*info*/) override { return 0; }
  void spans(std::int64_t /*run*/, std::span<const Span> /*batch*/) override {}
  void iterations(std::int64_t /*run*/, std::span<const Iteration> /*batch*/) override {}
  Status end_run(std::int64_t /*run*/, const RunSummary& /*summary*/) override { return {}; }

 private:
  std::mutex mutex_;
  RecordSink* sink_ = nullptr;
  std::int64_t run_ = 0;
  std::int64_t epoch_ns_ = 0;
  std::vector<ActivityRecord> early_;
  std::int64_t dropped_ = 0;
};

GpuTrace::GpuTrace() : records_(std::make_unique<Records>()) {}

GpuTrace::~GpuTrace() {
  finish();
}

std::unique_ptr<GpuTrace> GpuTrace::start(const RunOptions& options, const Topology& topology) {
  std::unique_ptr<GpuTrace> trace(new GpuTrace);
  const Result<const cupti::CuptiApi*> api = gpu_access(options).cupti();
  if (!api) {
    trace->refusal_ = api.error();
    return trace;
  }
  cupti::CollectorConfig config;
  config.graphs = options.graphs;
  if (options.comm == "nccl") {
    for (std::int32_t rank = 0; rank < topology.ranks(); ++rank) {
      config.rank_of_device.push_back(rank);
    }
  }
  auto collector = cupti::Collector::start(**api, *trace->records_, config);
  if (collector) {
    trace->collector_ = std::move(*collector);
  } else {
    trace->refusal_ = collector.error();
  }
  return trace;
}

std::shared_ptr<WorkTracer> GpuTrace::tracer() const {
  return collector_;
}

void GpuTrace::attach(RecordSink& sink, std::int64_t run, std::int64_t epoch_ns) {
  records_->attach(sink, run, epoch_ns);
}

void GpuTrace::finish() {
  if (collector_ != nullptr) collector_->stop();
}

cupti::DecodeCounts GpuTrace::counts() const {
  return collector_ != nullptr ? collector_->counts() : cupti::DecodeCounts{};
}

}  // namespace shardscope::app
