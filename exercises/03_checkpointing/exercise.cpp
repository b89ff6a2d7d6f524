// Lesson 03, yours to write: ./shardlings check 03 judges it, hint 03 helps.
// Made from solutions/03_checkpointing/exercise.cpp; ./shardlings reset 03 makes it anew.

#include "lessons/03_checkpointing/exercise.h"

#include <algorithm>

#include "base/todo.h"
#include "lessons/03_checkpointing/recomputed.h"

namespace shardlings::lesson03 {

using namespace lesson01;

std::vector<Segment> segments(std::int64_t L, std::int64_t k) {
  // 3.1: return the segments of k blocks, first to last
  // Segment{first, count}; how many blocks are left for the last one?
  todo("3.1");
}

Tensor forward_keeping_input(Layer& layer, const Tensor& x, SavedTensors& saved) {
  // 3.2: run the layer forward and leave x, and nothing else, on `saved`
  // SavedTensors::none() is a stack that keeps nothing.
  todo("3.2");
}

Tensor backward_from_input(Layer& layer, const Tensor& d_y, SavedTensors& saved,
                           WeightGradients& weights) {
  // 3.3: take x back, compute once more what forward did not keep, then run backward
  // forward_again(layer, x, stack) is layer.forward(x, stack), counted as recomputed.
  todo("3.3");
}

}  // namespace shardlings::lesson03
