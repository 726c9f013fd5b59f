#pragma once
// What CUPTI costs: the same work in processes with and without it.

#include "engine/cuda/plugin_table.hpp"

namespace shardscope::engine::testing {

/// One process' part: enables CUPTI first where asked to, then prints the milliseconds of a step.
[[nodiscard]] int print_step(bool traced);

/// Starts such processes in turns and compares their medians; false where tracing costs 5 % or
/// more.
[[nodiscard]] bool compare_tracing();

}  // namespace shardscope::engine::testing
