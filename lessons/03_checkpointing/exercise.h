// Exercise 03: cut the blocks into segments, and run a segment that keeps its input alone.
//
// solutions/03_checkpointing/exercise.cpp holds the course's answer, exercises/03_checkpointing/
// yours.
#pragma once

#include "lessons/01_training_step/layer.h"

namespace shardlings::lesson03 {

// `count` blocks, beginning with number `first`.
struct Segment {
  std::int64_t first = 0, count = 0;
  bool operator==(const Segment&) const = default;
};

// The blocks 0 ... L-1 in segments of k, in order. Where k does not divide L, the last one is
// shorter. Requires: L >= 1, k >= 1.
std::vector<Segment> segments(std::int64_t L, std::int64_t k);

// y = layer(x), as layer.forward() has it, but of all that it would save, `saved` holds x alone.
Tensor forward_keeping_input(lesson01::Layer& layer, const Tensor& x,
                             lesson01::SavedTensors& saved);

// d_x from d_y, as layer.backward() has it, and the same gradients of its parameters to the last
// bit, from no more than x: what the layer needs is computed once more (forward_again(),
// recomputed.h), and is gone when this returns.
// Requires: `saved` ends with what forward_keeping_input() left there.
// Cost: a forward pass of the layer, and the memory of what that saves.
Tensor backward_from_input(lesson01::Layer& layer, const Tensor& d_y, lesson01::SavedTensors& saved,
                           lesson01::WeightGradients& weights);

}  // namespace shardlings::lesson03
