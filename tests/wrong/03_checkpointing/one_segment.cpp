// diagnosis: all blocks are one segment
// Losses and gradients are right, and the whole model is recomputed at once: nothing is saved.
#include "lessons/03_checkpointing/exercise.h"

#include "lessons/03_checkpointing/recomputed.h"

namespace shardlings::lesson03 {

using namespace lesson01;

std::vector<Segment> segments(std::int64_t L, std::int64_t /*k*/) {
  return {{0, L}};
}

Tensor forward_keeping_input(Layer& layer, const Tensor& x, SavedTensors& saved) {
  SavedTensors none = SavedTensors::none();
  saved.push(x);
  return layer.forward(x, none);
}

Tensor backward_from_input(Layer& layer, const Tensor& d_y, SavedTensors& saved,
                           WeightGradients& weights) {
  const Tensor x = saved.pop();
  SavedTensors again;
  forward_again(layer, x, again);
  return layer.backward(d_y, again, weights);
}

}  // namespace shardlings::lesson03
