#include "device/cuda/cuda_stream.h"

#include "device/cuda/cuda_check.h"

namespace shardlings {

CudaStream::CudaStream() {
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

// A destructor has nobody to tell: what went wrong was told by the call before.
CudaStream::~CudaStream() {
  if (blas_ != nullptr) static_cast<void>(cublasDestroy(blas_));
  static_cast<void>(cudaFree(scratch_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

cublasHandle_t CudaStream::blas() {
  if (blas_ == nullptr) {
    CUBLAS_CHECK(cublasCreate(&blas_));
    CUBLAS_CHECK(cublasSetStream(blas_, stream_));
    // Left to itself, cuBLAS may add up parts of a bf16 product in bf16.
    CUBLAS_CHECK(cublasSetMathMode(blas_, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
  }
  return blas_;
}

void* CudaStream::scratch(std::int64_t bytes) {
  if (bytes > scratch_bytes_) {
    CUDA_CHECK(cudaStreamSynchronize(stream_));  // for operations that still use the old one
    CUDA_CHECK(cudaFree(scratch_));
    scratch_ = nullptr;
    scratch_bytes_ = 0;
    CUDA_CHECK(cudaMalloc(&scratch_, static_cast<std::size_t>(bytes)));
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

}  // namespace shardlings
