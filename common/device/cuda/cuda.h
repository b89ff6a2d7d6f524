// NVIDIA GPUs: what the rest of the course sees of them. No CUDA header comes along.
//
// A build without CUDA has the same functions: there is no GPU then, and why_no_cuda() says that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace shardlings {

struct CudaOptions {
  int index = 0;  // of the GPU among those that the driver shows
  bool tf32 =
      false;  // multiply f32 matrices with 10 bits of mantissa: faster, 1e-3 instead of 1e-5
};

// Why no GPU can be used, in a few words; "" when one can.
std::string why_no_cuda();
int gpu_count();

// Used by the thread that made it. Products by cuBLAS, everything else by the course's own kernels;
// results do not change from run to run. Blocks that tensors release are kept for later ones, and
// given back to the driver when it has no others.
// Errors: Error(unavailable), with the command that runs on the CPU instead.
std::unique_ptr<Device> make_cuda_device(MemoryLedger& memory, WorkLedger& work,
                                         const CudaOptions& options = {});

// A CPU device whose memory the GPU can read and write on its own: page-locked, so that downloads
// into it return at once. Requires: why_no_cuda() is "".
std::unique_ptr<Device> make_pinned_host_device(MemoryLedger& memory, WorkLedger& work,
                                                int threads);

// A stream of a CUDA device, for a library that works on it: its cudaStream_t.
void* cuda_stream(Device& device, Stream stream);

// What the driver says is free on the calling thread's GPU: the witness of the device ledger.
std::int64_t free_device_bytes();

}  // namespace shardlings
