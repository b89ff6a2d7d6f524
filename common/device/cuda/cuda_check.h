// Every call of CUDA and cuBLAS is checked.
//
//   CUDA_CHECK(cudaMemcpyAsync(...));
//   CUBLAS_CHECK(cublasCreate(&handle));
//
// Errors: Error(unavailable) when GPU, driver and build do not fit, Error(out_of_memory), or
// Error(broken); one line with the call, file:line, CUDA's own words and what to do.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "base/check.h"

namespace shardlings {

[[noreturn]] void fail_cuda(cudaError_t error, const char* call, const char* where);
[[noreturn]] void fail_cublas(cublasStatus_t status, const char* call, const char* where);

inline void check_cuda(cudaError_t error, const char* call, const char* where) {
  if (error != cudaSuccess) [[unlikely]]
    fail_cuda(error, call, where);
}

inline void check_cublas(cublasStatus_t status, const char* call, const char* where) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    fail_cublas(status, call, where);
}

}  // namespace shardlings

#define CUDA_CHECK(...) \
  ::shardlings::check_cuda(__VA_ARGS__, #__VA_ARGS__, __FILE__ ":" SHARDLINGS_TEXT(__LINE__))
#define CUBLAS_CHECK(...) \
  ::shardlings::check_cublas(__VA_ARGS__, #__VA_ARGS__, __FILE__ ":" SHARDLINGS_TEXT(__LINE__))
