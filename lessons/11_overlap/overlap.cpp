#include "lessons/11_overlap/overlap.h"

namespace shardlings::lesson11 {

using namespace lesson01;

// [slide backward]
Tensor ReducedInBackward::backward(const Tensor& d_y, SavedTensors& saved,
                                   WeightGradients& weights) {
  const Tensor d_x = layer_->backward(d_y, saved, weights);
  reduction_.layer_done(end_);
  dp_.poll();  // messages of ranks that are processes move on when somebody asks for them
  return d_x;
}
// [end slide]

void reduce_in_backward(Gpt& model, OverlappedReduction& reduction, Communicator& dp) {
  // The first parameter's gradient lies last: a layer's gradients end where those begin that
  // belong to what comes before it in the model.
  std::int64_t end = count_elements(model.parameters());
  model.first()->visit([&](Parameter& parameter) { end -= parameter.elements(); });
  for (LayerPtr& layer : model.blocks().layers()) {
    std::int64_t elements = 0;
    layer->visit([&](Parameter& parameter) { elements += parameter.elements(); });
    layer = std::make_unique<ReducedInBackward>(std::move(layer), end, reduction, dp);
    end -= elements;
  }
}

}  // namespace shardlings::lesson11
