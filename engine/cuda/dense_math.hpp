#pragma once
// The dense part on a GPU: products by cuBLAS, everything else by the kernels of
// engine/cuda/kernels/dense.cuh, all on one stream.

#include "engine/cuda/cublas_api.hpp"
#include "engine/cuda/cuda_stream.hpp"
#include "engine/dense/dense_math.hpp"

namespace shardscope::engine::cuda {

/// What a DenseMath multiplies with. Outlives it.
struct CublasUse {
  const CublasApi* api = nullptr;
  CublasHandle handle = nullptr;  ///< on the stream, with a workspace
  int compute = kCublasComputeTf32;
};

/// The first failure of cuBLAS becomes the stream's. The caller owns the object.
[[nodiscard]] DenseMath* make_dense_math(CudaStream& stream, const CublasUse& cublas);

}  // namespace shardscope::engine::cuda
