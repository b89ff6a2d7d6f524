#include "lessons/03_checkpointing/recomputed.h"

#include "lessons/03_checkpointing/exercise.h"

namespace shardlings::lesson03 {

using namespace lesson01;

Tensor forward_again(Layer& layer, const Tensor& x, SavedTensors& saved) {
  const WorkLedger::Recomputation recomputation(x.device().work());
  return layer.forward(x, saved);
}

// ---- Recomputed ----

Tensor Recomputed::forward(const Tensor& x, SavedTensors& saved) {
  return forward_keeping_input(*layer_, x, saved);
}

Tensor Recomputed::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) {
  return backward_from_input(*layer_, d_y, saved, weights);
}

// ---- CheapThenLinear ----

// [slide cheap_then_linear]
Tensor CheapThenLinear::forward(const Tensor& x, SavedTensors& saved) {
  SavedTensors none = SavedTensors::none();
  saved.push(x);
  return linear_->forward(cheap_->forward(x, none), none);
}

Tensor CheapThenLinear::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) {
  const Tensor x = saved.pop();
  SavedTensors again;
  again.push(forward_again(*cheap_, x, again));  // on top of what the cheap layer saved: h
  const Tensor d_h = linear_->backward(d_y, again, weights);  // takes h
  return cheap_->backward(d_h, again, weights);
}
// [end slide]

void CheapThenLinear::visit(const ParameterVisitor& visitor) {
  cheap_->visit(visitor);
  linear_->visit(visitor);
}

}  // namespace shardlings::lesson03
