// Matrix products by cuBLAS.
#include "device/cuda/cuda_launch.h"
#include "device/cuda/gpu_matmul.h"

namespace shardlings {

namespace {

cudaDataType_t elements_of(DType dtype) {
  return dtype == DType::f64 ? CUDA_R_64F : dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF;
}

// How products of that dtype are multiplied and added up.
cublasComputeType_t precision_of(DType dtype, bool tf32) {
  if (dtype == DType::f64) return CUBLAS_COMPUTE_64F;
  return dtype == DType::f32 && tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

struct CudaMatmul : CudaGpu {
  bool tf32;

  void multiply(const Gemm& g) const {
    const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const cudaDataType_t in = elements_of(g.dtype), out = elements_of(g.c_dtype);
    with_product_types(g.dtype, g.c_dtype, [&]<class In, class Out>(In, Out) {
      using T = decltype(In{} * In{});
      const T alpha = 1, beta = static_cast<T>(g.beta);
      CUBLAS_CHECK(cublasGemmEx_64(stream.blas(), transposed(g.transpose_left),
                                   transposed(g.transpose_right), g.m, g.n, g.k, &alpha, g.left, in,
                                   g.left_stride, g.right, in, g.right_stride, &beta, g.c, out,
                                   g.c_stride, precision_of(g.dtype, tf32), CUBLAS_GEMM_DEFAULT));
    });
  }
};

}  // namespace

void run_matmul(const Matmul& op, CudaStream& stream, bool tf32) {
  CudaMatmul gpu{{stream}, tf32};
  run(op, gpu);
}

}  // namespace shardlings
