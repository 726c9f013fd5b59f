#include "tests/engine/cuda/device_under_test.hpp"

#include "engine/cuda/host/block.hpp"
#include "engine/cuda/host/ops.hpp"

namespace shardscope::engine::testing {

std::shared_ptr<Device> device_under_test() {
  static const std::shared_ptr<Device> device = cuda::make_host_cuda_device();
  return device;
}

void vary_order(std::uint64_t seed) {
  cuda::host::set_order_seed(seed);
}

}  // namespace shardscope::engine::testing
