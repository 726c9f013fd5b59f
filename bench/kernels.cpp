// The cpu kernels against what the memory allows: pooling against a loop that only reads the same
// rows, gradient reduction and update against the copy bandwidth, sorting against the standard
// library; gathers, updates and wire conversions of 16-bit rows likewise. Limit and kernel run
// alternately in one process; each iteration of a benchmark is one such pair, and the summary gives
// the median of the pairs' ratios.
//
//   kernels [--benchmark_filter=...]   2 GiB table; SHARDSCOPE_BENCH_MIB=N makes it smaller

#include "bench/kernels/cases.hpp"
#include "bench/kernels/setup.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  shardscope::engine::add_pool_cases();
  shardscope::engine::add_backward_cases();
  shardscope::engine::add_update_cases();
  benchmark::RunSpecifiedBenchmarks();
  shardscope::engine::print_summary();
  return 0;
}
