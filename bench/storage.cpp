// Spans a second from recorders' hand-over to the committed session; the limit is 500,000.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "profiler/clock.hpp"
#include "storage/session.hpp"
#include "storage/session_writer.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

constexpr std::int32_t kRanks = 8;
constexpr std::int64_t kSpans = 2'000'000;  // at least; whole stretches

/// What a recorder hands over in one visit: one stretch a rank, times as a real pipeline has them.
std::vector<Span> stretch(std::int32_t rank, std::int64_t first, std::int64_t count) {
  std::vector<Span> spans(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    Span& span = spans[static_cast<std::size_t>(i)];
    span.start_ns = (first + i) * 40'000 + rank * 1000;
    span.end_ns = span.start_ns + 30'000 + i % 1000;
    span.busy_ns = 29'000;
    span.intra_bytes = 123'456;
    span.inter_bytes = 2'345'678;
    span.rows = 4096;
    span.iteration = static_cast<std::int32_t>((first + i) / 10);
    span.rank = rank;
    span.stage = static_cast<Stage>((first + i) % kStages);
  }
  return spans;
}

RunInfo plain_run() {
  RunInfo info;
  info.workload_json = info.topology_json = info.layout_json = "{}";
  return info;
}

class BenchFile {
 public:
  [[nodiscard]] std::string path() const { return directory_.file("bench.shardscope"); }

 private:
  test::TempDirectory directory_;
};

/// The queue is bounded: handing over faster than the disk takes blocks, so the whole is the
/// writer's own speed. The second run has the index of the first to keep up.
void write_spans(benchmark::State& state) {
  const std::int64_t each = 2048;
  std::vector<std::vector<Span>> stretches;
  for (std::int64_t first = 0; first * kRanks < kSpans; first += each) {
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      stretches.push_back(stretch(rank, first, each));
    }
  }
  for (auto _ : state) {
    const BenchFile file;
    Session session = Session::create(file.path()).value();
    SessionWriter writer(session);
    for (std::int64_t earlier = 0; earlier < state.range(0); ++earlier) {
      const std::int64_t run = writer.begin_run(plain_run()).value();
      for (const auto& spans : stretches) writer.spans(run, spans);
      if (!writer.end_run(run, {})) state.SkipWithError("end_run failed");
    }
    const std::int64_t run = writer.begin_run(plain_run()).value();
    const std::int64_t begin = steady_ns();
    const std::int64_t cpu_begin = detail::read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (const auto& spans : stretches) writer.spans(run, spans);
    if (!writer.flush()) state.SkipWithError("flush failed");
    state.SetIterationTime(static_cast<double>(steady_ns() - begin) / 1e9);
    // What the process used: how fast it would be had it the machine to itself.
    const std::int64_t cpu_ns = detail::read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin;
    state.counters["spans_per_cpu_s"] =
        static_cast<double>(kSpans) * 1e9 / static_cast<double>(cpu_ns);
    const std::int64_t end_begin = steady_ns();
    if (!writer.end_run(run, {})) state.SkipWithError("end_run failed");
    state.counters["end_run_s"] = static_cast<double>(steady_ns() - end_begin) / 1e9;
  }
  const auto spans = static_cast<std::int64_t>(stretches.size()) * each;
  state.counters["spans_per_s"] =
      benchmark::Counter(static_cast<double>(spans), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(write_spans)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shardscope::storage

BENCHMARK_MAIN();
