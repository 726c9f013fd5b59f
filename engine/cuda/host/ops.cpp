// The sources that nvcc compiles for the GPU, compiled by the host compiler for the harness.

#include "engine/cuda/host/ops.hpp"

#include "engine/cuda/assembly_ops.cu"
#include "engine/cuda/gather_ops.cu"
#include "engine/cuda/gradient_ops.cu"
#include "engine/cuda/index_ops.cu"

namespace shardscope::engine::cuda {
namespace {

class HostCudaDevice final : public Device {
 public:
  Ops& ops() override { return ops_; }
  Result<std::unique_ptr<Stream>> stream(StreamMode mode, const char* name) override {
    return make_cpu_stream(mode, name);
  }
  Result<std::shared_ptr<std::byte>> allocate(std::int64_t /*bytes*/,
                                              std::string_view /*purpose*/) override {
    return std::shared_ptr<std::byte>();
  }

 private:
  CudaOps ops_;
};

}  // namespace

std::shared_ptr<Device> make_host_cuda_device() {
  return std::make_shared<HostCudaDevice>();
}

}  // namespace shardscope::engine::cuda
