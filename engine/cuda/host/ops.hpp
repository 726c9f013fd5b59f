#pragma once
// The operations of the cuda device on the CPU, for tests: every kernel runs in host/block.hpp.

#include "engine/device.hpp"

namespace shardscope::engine::cuda {

/// For streams of any device whose memory is the host's. The caller owns them.
[[nodiscard]] Ops* make_host_cuda_ops();

}  // namespace shardscope::engine::cuda
