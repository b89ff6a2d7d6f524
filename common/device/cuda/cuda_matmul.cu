// Matrix products by cuBLAS.
#include "device/cuda/cuda_launch.h"
#include "device/cuda/gpu_matmul.h"

namespace shardlings {

namespace {

// What cuBLAS is told of an element type and of what it adds up in: the place for further types.
struct Precision {
  cudaDataType_t elements;
  cublasComputeType_t products;
};

Precision precision_of(DType dtype, bool tf32) {
  if (dtype == DType::f64) return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
  return {CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}

struct CudaMatmul : CudaGpu {
  bool tf32;

  void multiply(const Gemm& g) const {
    const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const auto [type, products] = precision_of(g.dtype, tf32);
    with_real_type(g.dtype, [&]<class T>(T) {
      const T alpha = 1, beta = static_cast<T>(g.beta);
      CUBLAS_CHECK(cublasGemmEx_64(stream.blas(), transposed(g.transpose_left),
                                   transposed(g.transpose_right), g.m, g.n, g.k, &alpha, g.left,
                                   type, g.left_stride, g.right, type, g.right_stride, &beta, g.c,
                                   type, g.c_stride, products, CUBLAS_GEMM_DEFAULT));
    });
  }
};

}  // namespace

void run_matmul(const Matmul& op, CudaStream& stream, bool tf32) {
  CudaMatmul gpu{{stream}, tf32};
  run(op, gpu);
}

}  // namespace shardlings
