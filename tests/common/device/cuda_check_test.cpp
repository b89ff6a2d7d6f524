// What a failing call of CUDA or cuBLAS says, and the exit code it gives. Needs no GPU.
#include "device/cuda/cuda_check.h"

#include "tests/support/catch.h"

using namespace shardlings;
using Catch::Matchers::Contains;

namespace {

template <class Call>
void require_failure(const Call& call, ExitCode code, const std::vector<std::string>& parts) {
  try {
    call();
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.code() == code);
    const std::string line = error.what();
    REQUIRE(line.find('\n') == line.npos);
    for (const std::string& part : parts) REQUIRE_THAT(line, Contains(part));
  }
}

}  // namespace

TEST_CASE("a failing call of CUDA is named, with its place, the reason and what to do") {
  struct Case {
    cudaError_t error;
    ExitCode code;
    const char* advice;
  };
  for (const auto& [error, code, advice] :
       {Case{cudaErrorNoDevice, ExitCode::unavailable, "--backend cpu"},
        Case{cudaErrorInsufficientDriver, ExitCode::unavailable, "a newer NVIDIA driver"},
        Case{cudaErrorUnsupportedPtxVersion, ExitCode::unavailable, "a newer NVIDIA driver"},
        Case{cudaErrorNoKernelImageForDevice, ExitCode::unavailable, "configure it again"},
        Case{cudaErrorMemoryAllocation, ExitCode::out_of_memory, "a smaller --model or --batch"},
        Case{cudaErrorIllegalAddress, ExitCode::broken, "CUDA_LAUNCH_BLOCKING=1"}})
    require_failure([&, status = error] { CUDA_CHECK(status); }, code,
                    {"status: ", cudaGetErrorString(error), cudaGetErrorName(error),
                     "cuda_check_test.cpp:", advice});
  CUDA_CHECK(cudaSuccess);
}

TEST_CASE("a failing call of cuBLAS is told likewise") {
  require_failure([] { CUBLAS_CHECK(CUBLAS_STATUS_ALLOC_FAILED); }, ExitCode::out_of_memory,
                  {"CUBLAS_STATUS_ALLOC_FAILED: ", "cuda_check_test.cpp:", "a smaller --model"});
  require_failure([] { CUBLAS_CHECK(CUBLAS_STATUS_EXECUTION_FAILED); }, ExitCode::broken,
                  {"CUBLAS_STATUS_EXECUTION_FAILED", "CUDA_LAUNCH_BLOCKING=1"});
  CUBLAS_CHECK(CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("a real call fails in the same words") {
  // For want of a driver, of a GPU, or of so many of them.
  require_failure([] { CUDA_CHECK(cudaSetDevice(1000)); }, ExitCode::unavailable,
                  {"cudaSetDevice(1000): ", "--backend cpu runs anywhere"});
}
