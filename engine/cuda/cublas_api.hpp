#pragma once
// What the engine uses of cuBLAS, as a table of functions over plain types: filled from
// libcublas.so.13 when a run has a dense part, by tests with a fake. Functions return
// cublasStatus_t's numbers.

#include <cstddef>
#include <cstdint>

#include "layout/result.hpp"

namespace shardscope::engine::cuda {

/// cublasHandle_t.
using CublasHandle = void*;

inline constexpr int kCublasSuccess = 0;
/// cublasOperation_t.
inline constexpr int kCublasNoTranspose = 0;
inline constexpr int kCublasTranspose = 1;
/// cublasComputeType_t: fp32 matrices, rounded to bf16 or tf32 on their way into the tensor cores,
/// added up in fp32.
inline constexpr int kCublasComputeBf16 = 75;
inline constexpr int kCublasComputeTf32 = 77;

/// What a handle may use of its GPU's memory: as much as cuBLAS takes for itself on an H100.
inline constexpr std::int64_t kCublasWorkspaceBytes = std::int64_t{32} << 20;

struct CublasApi {
  /// 0: major, 1: minor, 2: patch.
  int (*get_property)(int which, int* value) = nullptr;
  int (*create)(CublasHandle* handle) = nullptr;
  int (*destroy)(CublasHandle handle) = nullptr;
  /// Goes back to cuBLAS' own workspace: set_workspace comes behind it.
  int (*set_stream)(CublasHandle handle, void* stream) = nullptr;
  int (*set_workspace)(CublasHandle handle, void* memory, std::size_t bytes) = nullptr;
  /// c = op(a) op(b) + beta c of column-major fp32 matrices, c is m x n.
  int (*gemm)(CublasHandle handle, int a_op, int b_op, int m, int n, int k, const float* a,
              int a_stride, const float* b, int b_stride, float beta, float* c, int c_stride,
              int compute) = nullptr;
  const char* (*status_text)(int status) = nullptr;
};

/// The library's functions. Opened at the first call.
[[nodiscard]] Result<const CublasApi*> cublas_api();

}  // namespace shardscope::engine::cuda
