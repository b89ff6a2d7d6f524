#include "device/cuda/cuda_check.h"

#include <algorithm>
#include <string_view>

namespace shardlings {

namespace {

constexpr const char* kUseCpu = "--backend cpu runs anywhere";
constexpr const char* kUseLess = "a smaller --model or --batch needs less";
constexpr const char* kOldDriver =
    "a newer NVIDIA driver is needed for this CUDA toolkit; --backend cpu runs anywhere";
constexpr const char* kOtherGpu =
    "this program has no code for the GPU: configure it again on this machine; --backend cpu runs "
    "anywhere";
constexpr const char* kEarlier =
    "what was launched earlier may be to blame: CUDA_LAUNCH_BLOCKING=1 names the call itself";

// What is known about an error: how the program ends, and what to do.
template <class Status>
struct Known {
  Status status;
  ExitCode code;
  const char* advice;
};

constexpr Known<cudaError_t> kCuda[] = {
    {cudaErrorNoDevice, ExitCode::unavailable, kUseCpu},
    {cudaErrorInsufficientDriver, ExitCode::unavailable, kOldDriver},
    {cudaErrorSystemDriverMismatch, ExitCode::unavailable, kOldDriver},
    {cudaErrorUnsupportedPtxVersion, ExitCode::unavailable, kOldDriver},
    {cudaErrorNoKernelImageForDevice, ExitCode::unavailable, kOtherGpu},
    {cudaErrorInvalidDeviceFunction, ExitCode::unavailable, kOtherGpu},
    {cudaErrorInvalidDevice, ExitCode::unavailable, kUseCpu},
    {cudaErrorDevicesUnavailable, ExitCode::unavailable, kUseCpu},
    {cudaErrorMemoryAllocation, ExitCode::out_of_memory, kUseLess},
};

constexpr Known<cublasStatus_t> kCublas[] = {
    {CUBLAS_STATUS_NOT_INITIALIZED, ExitCode::unavailable, kUseCpu},
    {CUBLAS_STATUS_ARCH_MISMATCH, ExitCode::unavailable, kUseCpu},
    {CUBLAS_STATUS_ALLOC_FAILED, ExitCode::out_of_memory, kUseLess},
};

template <class Status, std::size_t n>
[[noreturn]] void fail_with(const Known<Status> (&all)[n], Status status, const char* name,
                            const char* words, const char* call, const char* where) {
  const auto known = std::ranges::find(all, status, &Known<Status>::status);
  const bool found = known != std::end(all);
  fail(found ? known->code : ExitCode::broken, "{}: {} ({}, {}); {}", call, words, name, where,
       found ? known->advice : kEarlier);
}

}  // namespace

void fail_cuda(cudaError_t error, const char* call, const char* where) {
  static_cast<void>(cudaGetLastError());  // so that the next launch is not blamed for it
  fail_with(kCuda, error, cudaGetErrorName(error), cudaGetErrorString(error), call, where);
}

void fail_cublas(cublasStatus_t status, const char* call, const char* where) {
  fail_with(kCublas, status, cublasGetStatusName(status), cublasGetStatusString(status), call,
            where);
}

}  // namespace shardlings
