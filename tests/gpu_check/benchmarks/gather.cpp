#include "tests/gpu_check/benchmarks/gather.hpp"

#include "tests/gpu_check/benchmarks/figures.hpp"

namespace shardscope::engine::testing {

GatherPool bench_lookup(DeviceBench& bench, DType type, int round) {
  GatherPool pool;
  pool.rows = bench.table();
  pool.row_type = type;
  pool.row_stride = pool.width = pool.out_stride = kBenchDim;
  pool.bags = kBags;
  pool.lengths = bench.lengths();
  pool.ids = bench.ids(round);
  pool.out = bench.out();
  return pool;
}

double copy_speed(DeviceBench& bench) {
  const std::int64_t half = bench.table_bytes() / 2;
  return bench.speed(2.0 * static_cast<double>(half), [&](int) { bench.copy(half); });
}

double gather_speed(DeviceBench& bench, DType type, bool skewed) {
  if (!bench.draw_ids(bench.table_bytes() / (kBenchDim * bytes_of(type)), skewed)) return 0;
  const double ids = static_cast<double>(kBags * kBagIds);
  const double bytes = ids * (kBenchDim * static_cast<double>(bytes_of(type)) + 4) +
                       static_cast<double>(kBags) * (kBenchDim * 4 + 4);
  return bench.speed(bytes, [&](int round) {
    const GatherPool pool = bench_lookup(bench, type, round);
    bench.ops().gather_pool(bench.stream(), {&pool, 1});
  });
}

}  // namespace shardscope::engine::testing
