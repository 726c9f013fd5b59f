#pragma once
// The cuda device that the tests of this folder run on: the harness in test_cuda, a GPU in the
// packed check.

#include <cstdint>
#include <memory>

#include "engine/device.hpp"

namespace shardscope::engine::testing {

[[nodiscard]] std::shared_ptr<Device> device_under_test();

/// In the harness: the order in which a block's threads start; 0: ascending.
void vary_order(std::uint64_t seed);

}  // namespace shardscope::engine::testing
