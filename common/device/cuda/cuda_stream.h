// What a CUDA operation is given: a stream, and what it needs beside its operands.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "device/operations.h"

namespace shardlings {

class CudaStream {
 public:
  CudaStream();
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t get() const { return stream_; }

  // Made at the first product. One for each stream: a handle's results are reproducible as long as
  // a single stream uses it.
  cublasHandle_t blas();

  // Memory that operations of this stream share one after the other; it grows to the largest asked
  // for. Like the CPU kernels' own, the ledger does not count it: it is part of no tensor.
  void* scratch(std::int64_t bytes);

 private:
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  void* scratch_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
};

// Launches an operation.
void run_on_cuda(const Operation& operation, CudaStream& stream, bool tf32);

// Those that have a file of their own.
void run_matmul(const Matmul& op, CudaStream& stream, bool tf32);
void run_attention(const AttentionForward& op, CudaStream& stream);
void run_attention(const AttentionBackward& op, CudaStream& stream);

}  // namespace shardlings
