#pragma once
// The harness' operations behind a check of every address that a list leads a kernel to.

#include "engine/device.hpp"

namespace shardscope::engine::cuda {

/// Prints the operation and ends the process at memory that no emulated GPU owns.
[[nodiscard]] Ops* make_address_checked_ops();

}  // namespace shardscope::engine::cuda
