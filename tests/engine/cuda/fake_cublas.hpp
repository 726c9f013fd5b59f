#pragma once
// cuBLAS on the CPU, for tests alone: products run on the emulated stream, with factors rounded to
// bf16 or tf32 as tensor cores take them (of another compute type: not at all) and sums in fp32.
// Refuses matrices that are not in an emulated GPU's memory.

#include <atomic>

#include "engine/cuda/cublas_api.hpp"

namespace shardscope::engine::cuda {

/// Behaviour of the fake; all tests of a process share it.
struct FakeCublas {
  std::atomic<int> create_status{kCublasSuccess};  ///< of the next cublasCreate calls
  std::atomic<int> gemm_status{kCublasSuccess};    ///< of the next products, which do not run
  std::atomic<int> products{0};                    ///< enqueued so far
  std::atomic<int> handles{0};                     ///< open
};
[[nodiscard]] FakeCublas& fake_cublas();

[[nodiscard]] const CublasApi& fake_cublas_api();

}  // namespace shardscope::engine::cuda
