// The sources that nvcc compiles for the GPU, compiled by the host compiler for the harness.

#include "engine/cuda/host/ops.hpp"

#include "engine/cuda/assembly_ops.cu"
#include "engine/cuda/codec_ops.cu"
#include "engine/cuda/dense_ops.cu"
#include "engine/cuda/gather_ops.cu"
#include "engine/cuda/gradient_ops.cu"
#include "engine/cuda/index_ops.cu"

namespace shardscope::engine::cuda {

Ops* make_host_cuda_ops() {
  return new CudaOps;
}

}  // namespace shardscope::engine::cuda
