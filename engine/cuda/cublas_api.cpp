#include "engine/cuda/cublas_api.hpp"

#include "engine/cuda/library.hpp"

namespace shardscope::engine::cuda {
namespace {

/// CUDA_R_32F and CUBLAS_GEMM_DEFAULT.
constexpr int kReal32 = 0;
constexpr int kDefaultAlgorithm = -1;

using GemmEx = int(CublasHandle, int, int, int, int, int, const void*, const void*, int, int,
                   const void*, int, int, const void*, void*, int, int, int, int);
GemmEx* gemm_ex = nullptr;

Status fill(CublasApi& api, const Library& library) {
  Status status = library.load(api.create, "cublasCreate_v2");
  const auto load = [&](auto*& function, const char* name) {
    if (status) status = library.load(function, name);
  };
  load(api.get_property, "cublasGetProperty");
  load(api.destroy, "cublasDestroy_v2");
  load(api.set_stream, "cublasSetStream_v2");
  load(api.set_workspace, "cublasSetWorkspace_v2");
  load(api.status_text, "cublasGetStatusString");
  load(gemm_ex, "cublasGemmEx");
  api.gemm = [](CublasHandle handle, int a_op, int b_op, int m, int n, int k, const float* a,
                int a_stride, const float* b, int b_stride, float beta, float* c, int c_stride,
                int compute) {
    const float alpha = 1;
    return gemm_ex(handle, a_op, b_op, m, n, k, &alpha, a, kReal32, a_stride, b, kReal32, b_stride,
                   &beta, c, kReal32, c_stride, compute, kDefaultAlgorithm);
  };
  return status;
}

Result<const CublasApi*> open_cublas() {
  Result<Library> library = Library::open(
      {"libcublas.so.13", "libcublas.so", "/usr/local/cuda/lib64/libcublas.so.13"},
      "the dense part on a GPU",
      "Install cuBLAS of CUDA 13, or compute the dense part on the CPU with --dense-math host");
  if (!library) return fail(library.error());
  static CublasApi api;
  if (Status status = fill(api, *library); !status) return fail(status.error());
  return &api;
}

}  // namespace

Result<const CublasApi*> cublas_api() {
  static const Result<const CublasApi*> api = open_cublas();
  return api;
}

}  // namespace shardscope::engine::cuda
