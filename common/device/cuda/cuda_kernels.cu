// Element-wise and row-wise operations on a GPU, and the way to the others.
#include <type_traits>

#include "device/cuda/cuda_launch.h"
#include "device/cuda/gpu_operations.h"

namespace shardlings {

void run_on_cuda(const Operation& operation, CudaStream& stream, bool tf32) {
  std::visit(
      [&]<class Op>(const Op& op) {
        if constexpr (std::is_same_v<Op, Matmul>) {
          run_matmul(op, stream, tf32);
        } else if constexpr (std::is_same_v<Op, AttentionForward> ||
                             std::is_same_v<Op, AttentionBackward>) {
          run_attention(op, stream);
        } else {
          CudaGpu gpu{stream};
          run(op, gpu);
        }
      },
      operation);
}

}  // namespace shardlings
