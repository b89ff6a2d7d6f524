// Attention on a GPU: launches the programs of gpu_attention.h.
#include "device/cuda/cuda_launch.h"
#include "device/cuda/gpu_attention.h"

namespace shardlings {

void run_attention(const AttentionForward& op, CudaStream& stream) {
  CudaGpu gpu{stream};
  run(op, gpu);
}

void run_attention(const AttentionBackward& op, CudaStream& stream) {
  CudaGpu gpu{stream};
  run(op, gpu);
}

}  // namespace shardlings
