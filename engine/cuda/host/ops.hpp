#pragma once
// The cuda device's operations on the CPU, for tests: every kernel runs in host/block.hpp.

#include <memory>

#include "engine/device.hpp"

namespace shardscope::engine::cuda {

/// Takes cpu streams.
[[nodiscard]] std::unique_ptr<Ops> make_host_cuda_ops();

}  // namespace shardscope::engine::cuda
