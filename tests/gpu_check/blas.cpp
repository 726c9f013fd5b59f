// Plain loops stand for OpenBLAS, which is larger than all the rest of the packed check: what the
// GPU's dense part is compared with is small.

#include <cblas.h>

extern "C" {

void cblas_sgemm(CBLAS_ORDER /*order*/, CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, blasint m,
                 blasint n, blasint k, float alpha, const float* a, blasint a_stride,
                 const float* b, blasint b_stride, float beta, float* c, blasint c_stride) {
  for (blasint row = 0; row < m; ++row) {
    for (blasint column = 0; column < n; ++column) {
      float sum = 0;
      for (blasint i = 0; i < k; ++i) {
        sum += (a_op == CblasTrans ? a[i * a_stride + row] : a[row * a_stride + i]) *
               (b_op == CblasTrans ? b[column * b_stride + i] : b[i * b_stride + column]);
      }
      float& to = c[row * c_stride + column];
      to = alpha * sum + (beta == 0 ? 0 : beta * to);
    }
  }
}

int openblas_get_parallel() {
  return 1;  // safe to call from several threads
}

void openblas_set_num_threads(int /*threads*/) {}
}
