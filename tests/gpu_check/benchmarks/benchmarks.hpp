#pragma once
// Speed of the kernels on a GPU, as ratios to the GPU's own copy in the same run.

#include "engine/cuda/plugin_table.hpp"

namespace shardscope::engine::testing {

/// Prints one line a figure as it is measured; false if something failed. Table sizes are those of
/// the targets (8 GiB) or, with less memory free, half of what is free.
[[nodiscard]] bool run_benchmarks(const cuda::PluginTable& plugin);

/// Milliseconds of forward, backward and update of one table's bags; 0 after a failure, which is
/// printed.
[[nodiscard]] double trained_step_ms(const cuda::PluginTable& plugin);

}  // namespace shardscope::engine::testing
