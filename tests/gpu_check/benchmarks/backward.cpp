#include <optional>

#include "tests/gpu_check/benchmarks/figures.hpp"
#include "tests/gpu_check/benchmarks/gather.hpp"

namespace shardscope::engine::testing {
namespace {

/// Calls of the backward pass and the update of all bags; they outlive the bench's work.
struct BackwardCalls {
  ExpandBags expand;
  SortIndex sort;
  SegmentReduce reduce;
  OptimizerUpdate update;

  void enqueue(DeviceBench& bench, int round) {
    sort.rows = bench.ids(round);
    bench.ops().expand_bags(bench.stream(), {&expand, 1});
    bench.ops().sort_index(bench.stream(), {&sort, 1});
    bench.ops().segment_reduce(bench.stream(), {&reduce, 1});
    bench.ops().optimizer_update(bench.stream(), {&update, 1}, round + 1);
  }
};

std::optional<BackwardCalls> prepared(DeviceBench& bench) {
  constexpr std::int64_t kIds = kBags * kBagIds;
  std::byte* const state = bench.allocate(kMostRows * 4);
  std::byte* const gradient_row = bench.allocate(kIds * 4);
  std::byte* const sorted = bench.allocate(kIds * 4);
  std::byte* const offsets = bench.allocate(kIds * 4 + 4);
  std::byte* const unique = bench.allocate(kIds * 8 + 8);
  std::byte* const wgrad = bench.allocate(kIds * kBenchDim * 4);
  std::byte* const sums = bench.allocate(kIds * 4);
  for (const std::byte* part : {state, gradient_row, sorted, offsets, unique, wgrad, sums}) {
    if (part == nullptr) return std::nullopt;
  }
  bench.clear(state, kMostRows * 4);
  BackwardCalls calls;
  calls.expand.bags = kBags;
  calls.expand.lengths = bench.lengths();
  calls.expand.gradient_row = reinterpret_cast<std::uint32_t*>(gradient_row);
  SortIndex& sort = calls.sort;
  sort.count = kIds;
  sort.row_limit = bench.trained_rows();
  sort.gradient_row = calls.expand.gradient_row;
  sort.unique_count = reinterpret_cast<std::int64_t*>(unique);
  sort.unique_rows = sort.unique_count + 1;
  sort.offsets = reinterpret_cast<std::uint32_t*>(offsets);
  sort.sorted_gradient_row = reinterpret_cast<std::uint32_t*>(sorted);
  SegmentReduce& reduce = calls.reduce;
  reduce.unique_count = sort.unique_count;
  reduce.offsets = sort.offsets;
  reduce.gradient_row = sort.sorted_gradient_row;
  reduce.gradients = bench.out();
  reduce.stride = reduce.width = kBenchDim;
  reduce.out = reinterpret_cast<float*>(wgrad);
  reduce.square_sum = reinterpret_cast<float*>(sums);
  OptimizerUpdate& update = calls.update;
  update.optimizer.kind = OptimizerKind::rowwise_adagrad;
  update.optimizer.words_per_row = 1;
  update.unique_count = sort.unique_count;
  update.unique_rows = sort.unique_rows;
  update.gradients = reduce.out;
  update.row_square_sum = reduce.square_sum;
  update.rows = bench.table();
  update.width = update.full_width = kBenchDim;
  update.state = reinterpret_cast<float*>(state);
  update.row_count = sort.row_limit;
  return calls;
}

}  // namespace

double backward_speed(DeviceBench& bench, bool skewed) {
  if (!bench.draw_ids(bench.trained_rows(), skewed)) return 0;
  auto calls = prepared(bench);
  if (!calls) return 0;
  const double ms = bench.milliseconds([&](int round) { calls->enqueue(bench, round); });
  const auto unique = static_cast<double>(*calls->sort.unique_count);
  const auto ids = static_cast<double>(kBags * kBagIds);
  return (ids * (kBenchDim * 4.0 + 4) + unique * (5 * kBenchDim * 4.0 + 8)) / (ms * 1e-3);
}

double step_ms(DeviceBench& bench) {
  if (!bench.draw_ids(bench.trained_rows(), false)) return 0;
  auto calls = prepared(bench);
  if (!calls) return 0;
  return bench.milliseconds([&](int round) {
    const GatherPool pool = bench_lookup(bench, DType::fp32, round);
    bench.ops().gather_pool(bench.stream(), {&pool, 1});
    calls->enqueue(bench, round);
  });
}

}  // namespace shardscope::engine::testing
