// A layer: forward, backward, and the parameters it owns.
//
// No tape, no autograd: every layer states its own gradient. It saves what backward needs on the
// stack it is given, and takes it back in the opposite order.
#pragma once

#include <memory>
#include <vector>

#include "lessons/01_training_step/parameter.h"
#include "lessons/01_training_step/saved_tensors.h"
#include "lessons/01_training_step/weight_gradients.h"

namespace shardlings::lesson01 {

class Layer {
 public:
  virtual ~Layer() = default;

  // y = f(x). Reads parameter values at the time of the call and never saves them.
  virtual Tensor forward(const Tensor& x, SavedTensors& saved) = 0;

  // d_x from d_y, both gradients of the loss; adds to the gradients of its parameters.
  // Requires: `saved` ends with what the matching forward pushed.
  virtual Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) = 0;

  virtual void visit(const ParameterVisitor& visitor) = 0;
};

using LayerPtr = std::unique_ptr<Layer>;

// Layers one after the other. The only loop over layers in the course.
class Sequential : public Layer {
 public:
  explicit Sequential(std::vector<LayerPtr> layers = {}) : layers_(std::move(layers)) {}

  Tensor forward(const Tensor& x, SavedTensors& saved) override {
    Tensor y = x;
    for (const LayerPtr& layer : layers_) y = layer->forward(y, saved);
    return y;
  }

  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override {
    Tensor d_x = d_y;
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
      d_x = (*layer)->backward(d_x, saved, weights);
    return d_x;
  }

  void visit(const ParameterVisitor& visitor) override {
    for (const LayerPtr& layer : layers_) layer->visit(visitor);
  }

  // For mechanisms that wrap or replace layers.
  std::vector<LayerPtr>& layers() { return layers_; }

 private:
  std::vector<LayerPtr> layers_;
};

}  // namespace shardlings::lesson01
