#pragma once
// How many iterations a block has.

#include <cstdint>

namespace shardscope::engine {

/// Whole cycles of `cycle` batches that take about `target_s`: at least one cycle, at most 4,096
/// iterations. One iteration where even a quarter of a cycle takes longer.
[[nodiscard]] std::int32_t block_iterations(double iteration_s, double target_s,
                                            std::int32_t cycle);

}  // namespace shardscope::engine
