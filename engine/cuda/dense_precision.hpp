#pragma once
// How the products of the dense part are computed on GPUs.

#include <cstdint>

namespace shardscope::engine::cuda {

enum class DensePrecision : std::uint8_t {
  tf32,
  bf16,
  host,  ///< not on the GPU: fp32 on the CPU, between the kernels
};

}  // namespace shardscope::engine::cuda
