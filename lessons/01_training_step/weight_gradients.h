// The weight half of a backward pass goes through this seam.
//
// A product Y = X W has two gradients. d_X is needed at once, by the layer below. d_W is needed by
// nobody before the optimizer: layers hand (W, X, d_Y) over here instead of multiplying themselves.
// This form multiplies on the spot; a pipeline may keep the halves for its idle time (lesson 20).
#pragma once

#include "lessons/01_training_step/parameter.h"
#include "tensor/ops.h"

namespace shardlings::lesson01 {

class WeightGradients {
 public:
  // weight.gradient += x_RM^T d_y_RN, summed over all rows.
  // Cost: 2 R M N FLOPs.
  void add(Parameter& weight, const Tensor& x, const Tensor& d_y) {
    const bool accumulate = weight.open_gradient();
    linear_weight_gradient(weight.gradient, x, d_y, accumulate);
  }
};

}  // namespace shardlings::lesson01
