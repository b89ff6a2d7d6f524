// A build without CUDA.
#include "device/cuda/cuda.h"

namespace shardlings {

namespace {

constexpr const char* kWhy =
    "this program was built without CUDA (a toolkit and a GPU must be there when it is configured)";

[[noreturn]] void fail_without_cuda() {
  fail(ExitCode::unavailable, "--backend cuda: {}; --backend cpu runs anywhere", kWhy);
}

}  // namespace

std::string why_no_cuda() {
  return kWhy;
}

std::unique_ptr<Device> make_cuda_device(MemoryLedger&, WorkLedger&, const CudaOptions&) {
  fail_without_cuda();
}

std::unique_ptr<Device> make_pinned_host_device(MemoryLedger&, WorkLedger&, int) {
  fail_without_cuda();
}

int gpu_count() {
  return 0;
}

void* cuda_stream(Device&, Stream) {
  fail_without_cuda();
}

std::int64_t free_device_bytes() {
  fail_without_cuda();
}

}  // namespace shardlings
