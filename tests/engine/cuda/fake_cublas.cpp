#include "tests/engine/cuda/fake_cublas.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "engine/stream.hpp"
#include "tests/engine/cuda/emulated_gpu.hpp"

namespace shardscope::engine::cuda {
namespace {

struct FakeHandle {
  NativeStream stream = nullptr;
  bool has_workspace = false;
};

struct Product {
  bool a_transposed, b_transposed;
  int m, n, k;
  const float* a;
  int a_stride;
  const float* b;
  int b_stride;
  float beta;
  float* c;
  int c_stride;
  int kept_bits;  ///< of the mantissa
};

constexpr int kEveryBit = 23;

int bits_of(int compute) {
  if (compute == kCublasComputeBf16) return 7;
  return compute == kCublasComputeTf32 ? 10 : kEveryBit;
}

/// To the nearest value with that many bits behind the point, ties to even.
float rounded(float value, int bits) {
  if (bits == kEveryBit) return value;
  const int dropped = 23 - bits;
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = (1U << (dropped - 1)) - 1 + ((word >> dropped) & 1U);
  return std::bit_cast<float>((word + half) & ~((1U << dropped) - 1));
}

void run_product(const Product& p) {
  for (int column = 0; column < p.n; ++column) {
    for (int row = 0; row < p.m; ++row) {
      float sum = 0;
      for (int i = 0; i < p.k; ++i) {
        const float a = p.a[p.a_transposed ? row * p.a_stride + i : i * p.a_stride + row];
        const float b = p.b[p.b_transposed ? i * p.b_stride + column : column * p.b_stride + i];
        sum += rounded(a, p.kept_bits) * rounded(b, p.kept_bits);
      }
      float& c = p.c[column * p.c_stride + row];
      c = p.beta == 0 ? sum : sum + p.beta * c;
    }
  }
}

/// A column-major matrix of `columns` columns.
void require_matrix(const char* name, const float* data, int stride, int rows, int columns) {
  const std::int64_t elements = std::int64_t{stride} * (columns - 1) + rows;
  if (is_emulated_memory(data, 4 * elements) && stride >= rows) return;
  std::fprintf(stderr, "gemm: %s is no matrix of the device's memory\n", name);
  std::abort();
}

int fake_gemm(CublasHandle given, int a_op, int b_op, int m, int n, int k, const float* a,
              int a_stride, const float* b, int b_stride, float beta, float* c, int c_stride,
              int compute) {
  const auto& handle = *static_cast<FakeHandle*>(given);
  const bool a_transposed = a_op == kCublasTranspose;
  const bool b_transposed = b_op == kCublasTranspose;
  require_matrix("a", a, a_stride, a_transposed ? k : m, a_transposed ? m : k);
  require_matrix("b", b, b_stride, b_transposed ? n : k, b_transposed ? k : n);
  require_matrix("c", c, c_stride, m, n);
  if (handle.stream == nullptr || !handle.has_workspace) return 1;
  if (const int status = fake_cublas().gemm_status; status != kCublasSuccess) return status;
  ++fake_cublas().products;
  const Product product{a_transposed, b_transposed,    m, n, k, a, a_stride, b, b_stride, beta, c,
                        c_stride,     bits_of(compute)};
  enqueue_emulated(handle.stream, [product] { run_product(product); });
  return kCublasSuccess;
}

}  // namespace

FakeCublas& fake_cublas() {
  static FakeCublas one;
  return one;
}

const CublasApi& fake_cublas_api() {
  static const CublasApi api = [] {
    CublasApi made;
    made.create = [](CublasHandle* handle) -> int {
      if (const int status = fake_cublas().create_status; status != kCublasSuccess) return status;
      ++fake_cublas().handles;
      *handle = new FakeHandle;
      return kCublasSuccess;
    };
    made.destroy = [](CublasHandle handle) -> int {
      --fake_cublas().handles;
      delete static_cast<FakeHandle*>(handle);
      return kCublasSuccess;
    };
    made.set_stream = [](CublasHandle handle, void* stream) -> int {
      *static_cast<FakeHandle*>(handle) = {stream, false};
      return kCublasSuccess;
    };
    made.set_workspace = [](CublasHandle handle, void* memory, std::size_t bytes) -> int {
      static_cast<FakeHandle*>(handle)->has_workspace =
          is_emulated_memory(memory, static_cast<std::int64_t>(bytes));
      return kCublasSuccess;
    };
    made.gemm = fake_gemm;
    made.status_text = [](int status) { return status == 3 ? "alloc failed" : "made by the test"; };
    return made;
  }();
  return api;
}

}  // namespace shardscope::engine::cuda
