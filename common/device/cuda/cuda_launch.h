// Launches on a GPU: what gpu_operations.h and gpu_attention.h ask for. For .cu files only.
#pragma once

#include "device/cuda/cuda_check.h"
#include "device/cuda/cuda_stream.h"
#include "device/cuda/launch.h"

namespace shardlings {

__device__ inline Place this_place() {
  return {blockIdx.x, gridDim.x, static_cast<int>(threadIdx.x)};
}

// A row kernel's `row` on a GPU: the 32 lanes of a warp.
struct WarpRow {
  int lane;

  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    for_each_step(lane, kLanes, n, f);
  }

  template <class F>
  __device__ auto sum(std::int64_t n, const F& f) const {
    auto total = lane_sum(lane, n, f);
    for (int step = kLanes / 2; step > 0; step /= 2) total += of_partner(total, step);
    return total;
  }

  template <class F>
  __device__ auto max(std::int64_t n, const F& f) const {
    auto largest = lane_max(lane, n, f);
    for (int step = kLanes / 2; step > 0; step /= 2) {
      const auto other = of_partner(largest, step);
      largest = other > largest ? other : largest;
    }
    return largest;
  }

 private:
  template <class T>
  __device__ T of_partner(T value, int step) const {
    return __shfl_sync(0xffffffffu, value, partner(lane, step));
  }
};

// The block of a program of phases.
struct CudaBlock {
  __device__ std::int64_t index() const { return blockIdx.x; }

  template <class F>
  __device__ void each_thread(const F& f) const {
    f(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};

template <class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    element_kernel(std::int64_t count, const Kernel kernel) {
  run_elements(this_place(), count, kernel);
}

template <class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    row_kernel(std::int64_t rows, const Kernel kernel) {
  const Place place = this_place();
  run_rows(place, rows, kernel, WarpRow{place.lane()});
}

template <class T, class Program>
__global__ void __launch_bounds__(kThreadsPerBlock) block_kernel(const Program program) {
  extern __shared__ double shared_memory[];
  CudaBlock block;
  program(block, reinterpret_cast<T*>(shared_memory));
}

struct CudaGpu {
  CudaStream& stream;

  template <class Kernel>
  void elements(std::int64_t count, const Kernel& kernel) const {
    launch(blocks_for(count, kThreadsPerBlock), 0, element_kernel<Kernel>, count, kernel);
  }

  template <class Kernel>
  void rows(std::int64_t rows, const Kernel& kernel) const {
    launch(blocks_for(rows, kWarpsPerBlock), 0, row_kernel<Kernel>, rows, kernel);
  }

  template <class T, class Program>
  void blocks(std::int64_t blocks, std::int64_t shared_elements, const Program& program) const {
    const auto bytes = static_cast<std::size_t>(shared_elements) * sizeof(T);
    // More than 48 KiB are there for those who ask.
    CUDA_CHECK(cudaFuncSetAttribute(block_kernel<T, Program>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(bytes)));
    launch(blocks, bytes, block_kernel<T, Program>, program);
  }

  template <class T>
  T* scratch(std::int64_t count) const {
    return static_cast<T*>(stream.scratch(count * static_cast<std::int64_t>(sizeof(T))));
  }

 private:
  template <class... Parameters, class... Arguments>
  void launch(std::int64_t blocks, std::size_t shared_bytes, void (*kernel)(Parameters...),
              const Arguments&... arguments) const {
    if (blocks == 0) return;  // a launch of nothing is an error
    kernel<<<static_cast<unsigned>(blocks), kThreadsPerBlock, shared_bytes, stream.get()>>>(
        arguments...);
    CUDA_CHECK(cudaGetLastError());
  }
};

}  // namespace shardlings
