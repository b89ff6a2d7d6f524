#include "lessons/03_checkpointing/exercise.h"

#include <algorithm>

#include "lessons/03_checkpointing/recomputed.h"

namespace shardlings::lesson03 {

using namespace lesson01;

std::vector<Segment> segments(std::int64_t L, std::int64_t k) {
  // [exercise 3.1] return the segments of k blocks, first to last
  // | Segment{first, count}; how many blocks are left for the last one?
  std::vector<Segment> result;
  for (std::int64_t first = 0; first < L; first += k)
    result.push_back({first, std::min(k, L - first)});
  return result;
  // [end]
}

Tensor forward_keeping_input(Layer& layer, const Tensor& x, SavedTensors& saved) {
  // [exercise 3.2] run the layer forward and leave x, and nothing else, on `saved`
  // | SavedTensors::none() is a stack that keeps nothing.
  SavedTensors none = SavedTensors::none();
  saved.push(x);
  return layer.forward(x, none);
  // [end]
}

Tensor backward_from_input(Layer& layer, const Tensor& d_y, SavedTensors& saved,
                           WeightGradients& weights) {
  // [exercise 3.3] take x back, compute once more what forward did not keep, then run backward
  // | forward_again(layer, x, stack) is layer.forward(x, stack), counted as recomputed.
  const Tensor x = saved.pop();
  SavedTensors again;
  forward_again(layer, x, again);
  return layer.backward(d_y, again, weights);
  // [end]
}

}  // namespace shardlings::lesson03
