#pragma once
// The cuda device on the CPU, for tests: its operations run every kernel in host/block.hpp.

#include <memory>

#include "engine/device.hpp"

namespace shardscope::engine::cuda {

/// On cpu streams and memory of the host.
[[nodiscard]] std::shared_ptr<Device> make_host_cuda_device();

}  // namespace shardscope::engine::cuda
