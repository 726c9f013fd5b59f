#pragma once

#include "tests/gpu_check/benchmarks/device_bench.hpp"

namespace shardscope::engine::testing {

/// The lookup of all bags with the round's ids.
[[nodiscard]] GatherPool bench_lookup(DeviceBench& bench, DType type, int round);

}  // namespace shardscope::engine::testing
