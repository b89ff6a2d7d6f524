// What single operations reach on a device: the ceilings that a step on a GPU is held against.
#pragma once

#include "tensor/ops.h"

namespace shardlings {

// y_RN = x_RM w_MN. FLOPs per second.
double product_rate(Device& device, DType dtype, std::int64_t R, std::int64_t M, std::int64_t N);

// Causal attention of H heads over B sequences of T tokens, forward and backward. Executed FLOPs
// per second.
double attention_rate(Device& device, DType dtype, std::int64_t B, std::int64_t T, std::int64_t D,
                      std::int64_t H);

}  // namespace shardlings
