// Does cutting one batch over more ranks cost computation? 1, 2, 4 and 8 ranks run the same global
// batch over the same tables, whole tables each, uniform ids, in blocks that take turns; the
// summary gives, beside one rank, what all ranks together spend on the stages that do not
// communicate. Ranks may share cores, so time is the threads' CPU time: on a core each it would be
// the wall's.
//
//   build/release/bench/ranks [ROUNDS]     default 9

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "engine/engine.hpp"
#include "engine/run_recorder.hpp"
#include "layout/models.hpp"
#include "planner/baselines.hpp"
#include "profiler/forgetting_sink.hpp"
#include "profiler/median.hpp"

namespace shardscope {
namespace {

constexpr std::array kRanks = {1, 2, 4, 8};
constexpr std::int32_t kTables = 8;
constexpr std::int32_t kWidth = 128;
constexpr std::int32_t kHotness = 20;
constexpr std::int64_t kBatch = 2048;
constexpr std::int32_t kBlock = 3;  ///< iterations
constexpr double kMostDifference = 0.10;

/// All tables together: eight times the last cache.
std::int64_t table_rows() {
  const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 32 << 20);
  return 8 * cache / kTables / (kWidth * 4);
}

/// Adds up the CPU time of the stages that compute.
class ComputeSink : public ForgettingSink {
 public:
  void spans(std::int64_t, std::span<const Span> batch) override {
    for (const Span& span : batch) {
      if (!is_exchange(span.stage)) compute_ns += span.busy_ns;
    }
  }

  std::int64_t compute_ns = 0;
};

/// One number of ranks with its engine.
struct Team {
  ComputeSink sink;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<engine::RunRecorder> recorder;
  std::vector<double> ms;  ///< an iteration, all ranks, by round
};

Status open(Team& team, int ranks) {
  Workload workload;
  workload.name = "uniform";
  workload.global_batch = kBatch;
  for (std::int32_t t = 0; t < kTables; ++t) {
    Table table{.name = fmt::format("t{}", t), .rows = table_rows(), .dim = kWidth};
    table.optimizer = make_optimizer(OptimizerKind::rowwise_adagrad, 1e-3);
    Feature feature;
    feature.name = table.name;
    feature.table = t;
    feature.hotness = Hotness::fixed(kHotness);
    feature.ids.kind = IdDistributionKind::uniform;
    workload.tables.push_back(table);
    workload.features.push_back(feature);
  }
  Result<Topology> topology = topology_by_name(fmt::format("host-cpu:1x{}", ranks));
  if (!topology) return fail(topology.error());
  Result<Layout> layout = baseline("table_wise", workload, *topology);
  if (!layout) return fail(layout.error());
  Result<std::unique_ptr<engine::BatchSource>> source =
      engine::make_batch_source(workload, 1, engine::RangePolicy::error);
  if (!source) return fail(source.error());
  engine::EngineConfig config;
  config.workload = std::move(workload);
  config.topology = std::move(*topology);
  config.layout = std::move(*layout);
  Result<std::unique_ptr<engine::Engine>> engine =
      engine::Engine::create(std::move(config), std::move(*source));
  if (!engine) return fail(engine.error());
  team.engine = std::move(*engine);
  auto recorder = engine::RunRecorder::begin(team.sink, {}, *team.engine);
  if (!recorder) return fail(recorder.error());
  team.recorder = std::move(*recorder);
  return {};
}

Status run_block(Team& team, bool counts) {
  team.sink.compute_ns = 0;
  const auto block = team.recorder->run_block(*team.engine, kBlock, engine::BlockUse::traced);
  if (!block) return fail(block.error());
  if (counts) team.ms.push_back(static_cast<double>(team.sink.compute_ns) / 1e6 / kBlock);
  return {};
}

Status measure(int rounds) {
  std::array<Team, kRanks.size()> teams;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    if (Status opened = open(teams[i], kRanks[i]); !opened) return opened;
    if (Status ran = run_block(teams[i], false); !ran) return ran;
  }
  std::array<std::size_t, kRanks.size()> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      if (Status ran = run_block(teams[i], true); !ran) return ran;
    }
  }
  fmt::print("{} tables of {} rows x {}, batch {}, {} ids a bag; {} blocks of {} iterations each\n",
             kTables, table_rows(), kWidth, kBatch, kHotness, rounds, kBlock);
  bool within = true;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    std::vector<double> speeds;
    for (std::size_t round = 0; round < teams[i].ms.size(); ++round) {
      speeds.push_back(teams[0].ms[round] / teams[i].ms[round]);
    }
    const double speed = median(speeds);
    within = within && std::abs(speed - 1) <= kMostDifference;
    fmt::print("{} rank{}  {:8.2f} ms of CPU an iteration  throughput {:.3f} of one rank's\n",
               kRanks[i], kRanks[i] == 1 ? " " : "s", median(teams[i].ms), speed);
  }
  if (within) return {};
  return fail({ErrorKind::runtime, "the number of ranks changes what computing costs", "",
               "throughputs within 10 %", ""});
}

}  // namespace
}  // namespace shardscope

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  if (argc > 2 || rounds <= 0) {
    fmt::print(stderr, "usage: ranks [ROUNDS]\n");
    return 1;
  }
  const shardscope::Status status = shardscope::measure(rounds);
  if (!status) fmt::print(stderr, "ranks: {}\n", shardscope::to_string(status.error()));
  return status ? 0 : 3;
}
