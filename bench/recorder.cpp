// Cost of recording one span on a rank's timed path; the limit is 100 ns.

#include "profiler/recorder.hpp"

#include <benchmark/benchmark.h>

#include "profiler/forgetting_sink.hpp"

namespace shardscope {
namespace {

/// The span itself is made by the loop, so that only handing it over is timed. Bursts of 4,096 with
/// a flush between them, outside the clock: an iteration's pattern.
void record_span(benchmark::State& state) {
  ForgettingSink sink;
  Recorder recorder(sink, 1, {});
  Span span;
  std::int64_t recorded = 0;
  while (state.KeepRunningBatch(4096)) {
    for (int i = 0; i < 4096; ++i) {
      span.start_ns = ++recorded;
      benchmark::DoNotOptimize(recorder.record(span));
    }
    state.PauseTiming();
    recorder.flush();
    state.ResumeTiming();
  }
  state.counters["dropped"] = static_cast<double>(recorder.dropped());
}
BENCHMARK(record_span);

/// With the two clock readings of a traced stage.
void record_timed_stage(benchmark::State& state) {
  ForgettingSink sink;
  Recorder recorder(sink, 1, {});
  Span span;
  while (state.KeepRunningBatch(4096)) {
    for (int i = 0; i < 4096; ++i) {
      span.start_ns = recorder.now_ns();
      span.end_ns = recorder.now_ns();
      benchmark::DoNotOptimize(recorder.record(span));
    }
    state.PauseTiming();
    recorder.flush();
    state.ResumeTiming();
  }
}
BENCHMARK(record_timed_stage);

}  // namespace
}  // namespace shardscope

BENCHMARK_MAIN();
