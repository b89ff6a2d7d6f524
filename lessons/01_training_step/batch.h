// What one forward pass reads, on the device.
#pragma once

#include "data/global_batch.h"
#include "tensor/tensor.h"

namespace shardlings::lesson01 {

struct Batch {
  Tensor tokens_BT;     // i32
  Tensor targets_BT;    // i32: the byte that follows each token
  Tensor positions_BT;  // i32: where each token stands in its sequence
  Tensor weights_BT;    // 1 where the target counts, 0 where it is masked
};

// Cost: 12 B T bytes of i32 and one weight per token, counted as activations once forward has
// begun.
Batch to_device(const GlobalBatch& global, Device& device, DType dtype);

}  // namespace shardlings::lesson01
