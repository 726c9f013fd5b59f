// Ids a second of one core, by distribution: what generating batches ahead of a run costs.

#include <benchmark/benchmark.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "engine/batches/batch.hpp"

namespace shardscope::engine {
namespace {

constexpr std::int64_t kSamples = 16'384;

Workload one_feature(std::int64_t rows, IdDistribution ids, std::int32_t hotness) {
  Workload workload;
  workload.name = "bench";
  workload.global_batch = kSamples;
  Table table;
  table.name = "table";
  table.rows = rows;
  table.dim = 8;
  workload.tables.push_back(table);
  Feature feature;
  feature.name = "feature";
  feature.hotness = Hotness::fixed(hotness);
  feature.ids = std::move(ids);
  workload.features.push_back(feature);
  return workload;
}

void generate(benchmark::State& state, const Workload& workload) {
  const auto source = make_batch_source(workload, 1, RangePolicy::error);
  if (!source) {
    state.SkipWithError(to_string(source.error()).c_str());
    return;
  }
  std::int64_t iteration = 0;
  std::int64_t ids = 0;
  for (auto _ : state) {
    auto batch = (*source)->make(iteration++, 0, 1);
    ids += batch->features[0].ids.size();
    benchmark::DoNotOptimize(batch->features[0].ids.i32.data());
  }
  state.SetItemsProcessed(ids);
}

void zipf(benchmark::State& state) {
  IdDistribution ids;
  ids.alpha = static_cast<double>(state.range(0)) / 100;
  ids.order = state.range(3) != 0 ? IdOrder::permuted : IdOrder::popularity;
  generate(state, one_feature(state.range(1), ids, static_cast<std::int32_t>(state.range(2))));
}
BENCHMARK(zipf)
    ->ArgNames({"alpha_percent", "rows", "hotness", "permuted"})
    ->Args({0, 1'000'000'000, 10, 1})
    ->Args({50, 1'000'000'000, 10, 1})
    ->Args({100, 1'000'000'000, 10, 1})
    ->Args({110, 1'000'000'000, 10, 1})
    ->Args({110, 1'000'000'000, 10, 0})
    ->Args({110, 1'000'000'000, 1, 1})
    ->Args({110, 1'000, 1, 1})
    ->Args({200, 1'000'000, 10, 1});

void uniform(benchmark::State& state) {
  IdDistribution ids;
  ids.kind = IdDistributionKind::uniform;
  generate(state, one_feature(1'000'000'000, ids, static_cast<std::int32_t>(state.range(0))));
}
BENCHMARK(uniform)->ArgName("hotness")->Arg(1)->Arg(10);

void heavy_hitters(benchmark::State& state) {
  IdDistribution ids;
  ids.kind = IdDistributionKind::heavy_hitters;
  ids.heavy_hitters.assign(100, 0.005);
  generate(state, one_feature(1'000'000'000, ids, 10));
}
BENCHMARK(heavy_hitters);

void reuse_histogram(benchmark::State& state) {
  IdDistribution ids;
  ids.kind = IdDistributionKind::reuse_histogram;
  ids.reuse = {{1, 0.47}, {2, 0.15},  {4, 0.14},
               {8, 0.11}, {16, 0.08}, {std::numeric_limits<double>::infinity(), 0.05}};
  generate(state, one_feature(1'000'000'000, ids, 10));
}
BENCHMARK(reuse_histogram);

/// Ten tables of 4 M rows and one large one, Zipf, 10 M keys a batch.
Workload ten_million_keys() {
  IdDistribution ids;
  Workload workload = one_feature(1'000'000'000, ids, 50);
  for (int i = 0; i < 10; ++i) {
    workload.tables.push_back(workload.tables.front());
    workload.tables.back().rows = 5'000'000;
    workload.features.push_back(workload.features.front());
    workload.features.back().table = i + 1;
    workload.features.back().hotness = Hotness::fixed(10);
  }
  workload.global_batch = 66'667;
  return workload;
}

void stats(benchmark::State& state) {
  const Workload workload = ten_million_keys();
  const auto source = make_batch_source(workload, 1, RangePolicy::error);
  std::int64_t keys = 0;
  for (auto _ : state) {
    const auto found = collect_stats(workload, **source, 1, 8);
    for (const TableStats& table : *found) keys += table.keys;
  }
  state.SetItemsProcessed(keys);
}
BENCHMARK(stats)->UseRealTime()->Unit(benchmark::kMillisecond);

void count(benchmark::State& state) {
  const Workload workload = ten_million_keys();
  const auto source = make_batch_source(workload, 1, RangePolicy::error);
  Layout layout;
  layout.ranks = 8;
  for (const Table& table : workload.tables) {
    layout.tables.push_back(row_wise(table, {0, 1, 2, 3, 4, 5, 6, 7}, ClusterType::UB));
  }
  std::vector<RankBatch> parts;
  for (int rank = 0; rank < 8; ++rank) parts.push_back(*(*source)->make(0, rank, 8));
  std::int64_t keys = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(count_batch(workload, layout, parts));
    keys += 10'000'050;
  }
  state.SetItemsProcessed(keys);
}
BENCHMARK(count)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shardscope::engine

BENCHMARK_MAIN();
