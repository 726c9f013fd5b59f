// Are comparisons honest on this machine? Compares a layout with itself again and again, for real,
// and counts the intervals that contain 1; or records block times for the replays of
// tests/profiler/comparison_test.
//
//   build/release/bench/comparison [REPETITIONS]     default 100, about two seconds each
//                        SHARDSCOPE_BENCH_STAY=1: the layouts never trade engines, as a control
//   build/release/bench/comparison --record BLOCKS   block means in ms on stdout, in order of time

#include "engine/comparison_run.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "engine/batches/batch.hpp"
#include "engine/engine.hpp"

#include "layout/json.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "profiler/comparison.hpp"
#include "profiler/forgetting_sink.hpp"

namespace shardscope {
namespace {

constexpr std::int32_t kBlockIterations = 8;
constexpr double kBudgetSeconds = 2;
constexpr int kLeastOf100 = 90;
constexpr double kTradeSeconds = 0.05;

/// Four tables on two ranks: an iteration of about a millisecond.
Result<std::unique_ptr<engine::Engine>> small_engine() {
  constexpr const char* kModel = R"({"name": "small", "global_batch": 512, "tables": [
    {"name": "t0", "rows": 100000, "dim": 32, "hotness": 10},
    {"name": "t1", "rows": 50000, "dim": 32, "hotness": 4},
    {"name": "t2", "rows": 2000, "dim": 32, "hotness": 1},
    {"name": "t3", "rows": 100, "dim": 32, "hotness": 1}]})";
  Result<Workload> workload = workload_from_json(kModel, "bench");
  if (!workload) return fail(workload.error());
  Result<Topology> topology = topology_by_name("host-cpu:1x2");
  if (!topology) return fail(topology.error());
  Result<Layout> layout = baseline("table_row_wise", *workload, *topology);
  if (!layout) return fail(layout.error());
  Result<std::unique_ptr<engine::BatchSource>> source =
      engine::make_batch_source(*workload, 1, engine::RangePolicy::wrap);
  if (!source) return fail(source.error());
  engine::EngineConfig config;
  config.workload = std::move(*workload);
  config.topology = std::move(*topology);
  config.layout = std::move(*layout);
  return engine::Engine::create(std::move(config), std::move(*source));
}

Status repeat(int repetitions) {
  Result<std::unique_ptr<engine::Engine>> a = small_engine();
  if (!a) return fail(a.error());
  Result<std::unique_ptr<engine::Engine>> b = small_engine();
  if (!b) return fail(b.error());
  const Layout layout = (*a)->config().layout;
  ForgettingSink sink;
  int with_interval = 0;
  int honest = 0;
  for (int index = 0; index < repetitions; ++index) {
    auto record_a = engine::RunRecorder::begin(sink, {}, **a);
    auto record_b = engine::RunRecorder::begin(sink, {}, **b);
    if (!record_a || !record_b) return fail((!record_a ? record_a : record_b).error());
    engine::ComparisonConfig config;
    config.rule.target = 0.02;
    config.budget_s = kBudgetSeconds;
    config.seed = static_cast<std::uint64_t>(index) + 1;
    config.trade_s = std::getenv("SHARDSCOPE_BENCH_STAY") != nullptr ? 0 : kTradeSeconds;
    const auto outcome = engine::comparison_run(
        {a->get(), record_a->get(), &layout}, {b->get(), record_b->get(), &layout}, config,
        [](const engine::ComparisonProgress&) { return true; });
    if (!outcome) return fail(outcome.error());
    if (!outcome->ratio) continue;
    ++with_interval;
    const Interval& ratio = outcome->ratio->ratio;
    honest += ratio.contains(1) ? 1 : 0;
    fmt::print("{:3}  {:.4f}  ({:.4f} to {:.4f})  {} pairs{}\n", index + 1, ratio.estimate,
               ratio.low, ratio.high, outcome->ratio->pairs, ratio.contains(1) ? "" : "  misses 1");
    std::fflush(stdout);
  }
  fmt::print("{} of {} intervals contain 1\n", honest, with_interval);
  if (with_interval < repetitions || honest * 100 < kLeastOf100 * repetitions) {
    return fail({ErrorKind::runtime, "too few intervals contain 1", "",
                 fmt::format("at least {} of 100", kLeastOf100), ""});
  }
  return {};
}

Status record(int blocks) {
  Result<std::unique_ptr<engine::Engine>> engine = small_engine();
  if (!engine) return fail(engine.error());
  ForgettingSink sink;
  auto recorder = engine::RunRecorder::begin(sink, {}, **engine);
  if (!recorder) return fail(recorder.error());
  const std::int64_t cycle = (*engine)->config().batches;
  for (int index = 0; index < blocks; ++index) {
    const auto block =
        (*recorder)->run_block(**engine, kBlockIterations + 1, engine::BlockUse::measured);
    if (!block) return fail(block.error());
    fmt::print("{:.4f}\n", settle(block->iteration_ms, cycle).mean_ms);
  }
  return {};
}

}  // namespace
}  // namespace shardscope

int main(int argc, char** argv) {
  const bool recording = argc == 3 && std::strcmp(argv[1], "--record") == 0;
  const int count = argc > 1 ? std::atoi(argv[argc - 1]) : 100;
  if (argc > 3 || (argc == 3 && !recording) || count <= 0) {
    fmt::print(stderr, "usage: comparison [REPETITIONS] | comparison --record BLOCKS\n");
    return 1;
  }
  const shardscope::Status status =
      recording ? shardscope::record(count) : shardscope::repeat(count);
  if (!status) fmt::print(stderr, "comparison: {}\n", shardscope::to_string(status.error()));
  return status ? 0 : 3;
}
