// diagnosis: it equals the second pass's alone
// Each pass begins new sums: with one pass per step nothing shows; with micro-batches the last is
// left.
#include "lessons/03_checkpointing/exercise.h"

#include <algorithm>

#include "lessons/03_checkpointing/recomputed.h"

namespace shardlings::lesson03 {

using namespace lesson01;

std::vector<Segment> segments(std::int64_t L, std::int64_t k) {
  std::vector<Segment> result;
  for (std::int64_t first = 0; first < L; first += k)
    result.push_back({first, std::min(k, L - first)});
  return result;
}

Tensor forward_keeping_input(Layer& layer, const Tensor& x, SavedTensors& saved) {
  SavedTensors none = SavedTensors::none();
  saved.push(x);
  return layer.forward(x, none);
}

Tensor backward_from_input(Layer& layer, const Tensor& d_y, SavedTensors& saved,
                           WeightGradients& weights) {
  const Tensor x = saved.pop();
  layer.visit([](Parameter& parameter) { parameter.clear_gradient(); });
  SavedTensors again;
  forward_again(layer, x, again);
  return layer.backward(d_y, again, weights);
}

}  // namespace shardlings::lesson03
