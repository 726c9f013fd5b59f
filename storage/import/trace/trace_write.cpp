#include "storage/import/trace/trace_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace shardscope::storage {
namespace {

constexpr std::size_t kBatch = 4096;

ActivityRecord activity_of(const RankTrace& trace, const GpuWork& work, const WorkPlace& place,
                           std::int32_t rank, std::int64_t origin_ns) {
  ActivityRecord record;
  record.kind = work.kind;
  record.start_ns = work.start_ns - origin_ns;
  record.end_ns = work.end_ns - origin_ns;
  record.rank = rank;
  record.device = work.device;
  record.context = work.context;
  record.stream = work.stream;
  record.correlation = work.correlation;
  record.bytes = work.bytes > 0 ? work.bytes : place.sent_bytes;
  record.detail = work.detail;
  record.iteration = std::max(place.iteration, 0);
  record.stage = place.stage;
  record.work = place.work;
  record.attributed = place.mapped && place.iteration >= 0;
  record.name = trace.names.text(work.name);
  record.source = work.source;
  record.destination = work.destination;
  record.grid = work.grid;
  record.block = work.block;
  record.registers_per_thread = work.registers;
  record.dynamic_shared_bytes = work.shared_bytes;
  return record;
}

/// API calls that launched something, for tools that follow correlations.
void write_calls(RecordSink& sink, std::int64_t run, const RankTrace& trace, std::int32_t rank,
                 std::int64_t origin_ns) {
  std::vector<ActivityRecord> batch;
  for (const CpuRange& call : trace.calls) {
    ActivityRecord record;
    record.kind = ActivityRecord::Kind::runtime;
    record.start_ns = call.start_ns - origin_ns;
    record.end_ns = call.end_ns - origin_ns;
    record.rank = rank;
    record.correlation = call.correlation;
    record.thread = call.thread;
    record.name = trace.names.text(call.name);
    batch.push_back(std::move(record));
    if (batch.size() < kBatch) continue;
    sink.activities(run, batch);
    batch.clear();
  }
  if (!batch.empty()) sink.activities(run, batch);
}

void write_work(RecordSink& sink, std::int64_t run, const ImportedTrace& trace, std::size_t r) {
  std::vector<ActivityRecord> batch;
  for (std::size_t w = 0; w < trace.ranks[r].work.size(); ++w) {
    batch.push_back(activity_of(trace.ranks[r], trace.ranks[r].work[w], trace.places[r][w],
                                static_cast<std::int32_t>(r), trace.start_ns));
    if (batch.size() < kBatch) continue;
    sink.activities(run, batch);
    batch.clear();
  }
  if (!batch.empty()) sink.activities(run, batch);
}

}  // namespace

bool has_fused_update(const ImportedTrace& trace) {
  return std::any_of(trace.places.begin(), trace.places.end(), [](const auto& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const WorkPlace& place) { return place.mapped && place.fused; });
  });
}

double iteration_ms(const ImportedTrace& trace) {
  double sum = 0;
  for (const Iteration& one : trace.iterations) {
    sum += static_cast<double>(one.end_ns - one.start_ns) / 1e6;
  }
  return trace.iterations.empty() ? 0 : sum / static_cast<double>(trace.iterations.size());
}

RunInfo trace_run_info(const ImportedTrace& trace) {
  RunInfo info;
  info.mode = Mode::measured;
  info.executor = Executor::torchrec;
  info.backend = "cuda";
  info.comm = "nccl";
  info.schedule = "serial";
  info.ranks = static_cast<std::int32_t>(trace.ranks.size());
  info.global_batch = trace.totals.empty() ? 0 : trace.totals.front().batch;
  return info;
}

Result<std::int64_t> write_trace(RecordSink& sink, const ImportedTrace& trace,
                                 const RunInfo& info) {
  const auto run = sink.begin_run(info);
  if (!run) return run;
  for (std::size_t at = 0; at < trace.spans.size(); at += kBatch) {
    sink.spans(*run, std::span(trace.spans).subspan(at, std::min(kBatch, trace.spans.size() - at)));
  }
  sink.iterations(*run, trace.iterations);
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    write_work(sink, *run, trace, r);
    write_calls(sink, *run, trace.ranks[r], static_cast<std::int32_t>(r), trace.start_ns);
  }
  RunSummary summary;
  summary.iteration_ms = iteration_ms(trace);
  summary.samples_per_s = summary.iteration_ms > 0
                              ? static_cast<double>(info.global_batch) * 1e3 / summary.iteration_ms
                              : std::numeric_limits<double>::quiet_NaN();
  summary.critical_path_ms = std::numeric_limits<double>::quiet_NaN();
  summary.tracing_overhead = std::numeric_limits<double>::quiet_NaN();
  double unmapped = 0;
  for (const UnmappedName& one : trace.unmapped) unmapped += one.ms;
  summary.message =
      fmt::format("imported from {} trace files; {:.3f} ms of GPU work is in no stage",
                  trace.ranks.size(), unmapped);
  if (Status done = sink.end_run(*run, summary); !done) return fail(done.error());
  return run;
}

}  // namespace shardscope::storage
