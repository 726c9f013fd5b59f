#include <algorithm>
#include <vector>

#include "profiler/clock.hpp"
#include "tests/gpu_check/benchmarks/figures.hpp"

namespace shardscope::engine::testing {
namespace {

constexpr std::int64_t kTables = 26;
constexpr std::int64_t kBatch = 8192;

/// The lists of the stages, by table.
struct ManyTables {
  std::vector<GatherPool> lookups;
  std::vector<SortIndex> sorts;
  std::vector<SegmentReduce> reductions;
  std::vector<OptimizerUpdate> updates;
};

bool prepare_tables(DeviceBench& bench, std::int64_t rows, ManyTables& lists) {
  // Of each table: 16-byte aligned parts of one buffer.
  constexpr std::int64_t kPart = kBatch * kBenchDim * 4;
  std::byte* ones = bench.allocate(kBatch * 4);
  std::byte* outs = bench.allocate(kTables * kPart);
  std::byte* wgrads = bench.allocate(kTables * kPart);
  std::byte* indices = bench.allocate(kTables * kBatch * 32);
  std::byte* states = bench.allocate(kTables * rows * 4);
  for (const std::byte* part : {ones, outs, wgrads, indices, states}) {
    if (part == nullptr) return false;
  }
  std::fill_n(reinterpret_cast<std::int32_t*>(ones), kBatch, 1);
  bench.clear(states, kTables * rows * 4);
  for (std::int64_t t = 0; t < kTables; ++t) {
    GatherPool look;
    look.rows = bench.table() + t * rows * kBenchDim * 4;
    look.row_stride = look.width = look.out_stride = kBenchDim;
    look.bags = kBatch;
    look.lengths = reinterpret_cast<const std::int32_t*>(ones);
    look.ids = bench.ids(0) + t * kBatch * 4;
    look.out = outs + t * kPart;
    std::byte* at = indices + t * kBatch * 32;
    SortIndex sort;
    sort.count = kBatch;
    sort.rows = look.ids;
    sort.row_limit = rows;
    sort.unique_rows = reinterpret_cast<std::int64_t*>(at);
    sort.unique_count = sort.unique_rows + kBatch;
    sort.offsets = reinterpret_cast<std::uint32_t*>(at + kBatch * 8 + 16);
    sort.sorted_gradient_row = sort.offsets + kBatch + 4;
    SegmentReduce reduce;
    reduce.unique_count = sort.unique_count;
    reduce.offsets = sort.offsets;
    reduce.gradient_row = sort.sorted_gradient_row;
    reduce.gradients = look.out;
    reduce.stride = reduce.width = kBenchDim;
    reduce.out = reinterpret_cast<float*>(wgrads + t * kPart);
    reduce.square_sum = reinterpret_cast<float*>(sort.sorted_gradient_row + kBatch + 4);
    OptimizerUpdate update;
    update.optimizer.kind = OptimizerKind::rowwise_adagrad;
    update.optimizer.words_per_row = 1;
    update.unique_count = sort.unique_count;
    update.unique_rows = sort.unique_rows;
    update.gradients = reduce.out;
    update.row_square_sum = reduce.square_sum;
    update.rows = bench.table() + t * rows * kBenchDim * 4;
    update.width = update.full_width = kBenchDim;
    update.state = reinterpret_cast<float*>(states + t * rows * 4);
    update.row_count = rows;
    lists.lookups.push_back(look);
    lists.sorts.push_back(sort);
    lists.reductions.push_back(reduce);
    lists.updates.push_back(update);
  }
  return true;
}

/// An iteration a graph, where the stream has graphs; two of them in turns, as batches have slots.
void enqueue_tables(DeviceBench& bench, const ManyTables& lists, int step) {
  Ops& ops = bench.ops();
  Stream& stream = bench.stream();
  const auto enqueue = [&] {
    ops.gather_pool(stream, lists.lookups);
    ops.sort_index(stream, lists.sorts);
    ops.segment_reduce(stream, lists.reductions);
    ops.optimizer_update(stream, lists.updates, step + 1);
  };
  enqueue_as_graph(stream, static_cast<std::size_t>(step % 2), {}, enqueue,
                   [](bool ready) { return ready; });
}

}  // namespace

LaunchFigures many_tables(DeviceBench& bench) {
  const std::int64_t rows =
      std::min<std::int64_t>(bench.table_bytes() / (kBenchDim * 4) / kTables, 1000000);
  ManyTables lists;
  if (!bench.draw_ids(rows, true) || !prepare_tables(bench, rows, lists)) return {};
  constexpr int kIterations = 100;
  for (int n = 0; n < 6; ++n) enqueue_tables(bench, lists, n);
  bench.finish();
  LaunchFigures figures;
  const std::int64_t begin_ns = steady_ns();
  for (int n = 0; n < kIterations; ++n) enqueue_tables(bench, lists, n);
  bench.finish();
  figures.iteration_ms = static_cast<double>(steady_ns() - begin_ns) * 1e-6 / kIterations;
  // Behind a copy that takes longer than the host needs to enqueue, the GPU never waits for it.
  const std::int64_t half = bench.table_bytes() / 2;
  const double copy_ms = bench.milliseconds([&](int) { bench.copy(half); });
  figures.gpu_ms = bench.milliseconds([&](int round) {
    bench.copy(half);
    enqueue_tables(bench, lists, round);
  }) - copy_ms;
  return figures;
}

}  // namespace shardscope::engine::testing
