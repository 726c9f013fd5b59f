#include "tests/engine/cuda/device_under_test.hpp"

#include "engine/cuda/host/block.hpp"
#include "engine/cuda/host/ops.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"
#include "tests/engine/cuda/fake_cublas.hpp"

namespace shardscope::engine::testing {

std::shared_ptr<Device> device_under_test() {
  static const cuda::PluginTable plugin = [] {
    cuda::PluginTable made = cuda::emulated_plugin();
    made.make_ops = cuda::make_host_cuda_ops;
    return made;
  }();
  static const std::shared_ptr<Device> device = *cuda::CudaDevice::create(plugin);
  return device;
}

std::shared_ptr<Device> pipeline_device(CommKind comm, bool graphs) {
  return cuda::make_emulated_device(comm == CommKind::nccl ? 8 : 1, graphs);
}

DenseUnderTest dense_under_test() {
  return {&cuda::emulated_plugin(), &cuda::fake_cublas_api()};
}

void defer_streams(bool deferred) {
  cuda::set_emulated_streams(deferred ? StreamMode::deferred : StreamMode::threaded);
}

std::shared_ptr<cuda::CodecOps> codec_ops_under_test() {
  return std::shared_ptr<cuda::CodecOps>(cuda::make_codec_ops());
}

void vary_order(std::uint64_t seed) {
  cuda::host::set_order_seed(seed);
}

}  // namespace shardscope::engine::testing
