// Layers that save less than they need, and compute the rest once more in backward.
//
// The values are the same to the last bit the second time: the same kernels run on the same input,
// with weights that no optimizer has touched since. (Dropout would have to draw the same numbers,
// too; there is none here.)
#pragma once

#include "lessons/01_training_step/layer.h"

namespace shardlings::lesson03 {

// y = layer.forward(x, saved), counted as work that is done a second time.
Tensor forward_again(lesson01::Layer& layer, const Tensor& x, lesson01::SavedTensors& saved);

// Any layer at all: an attention core, a block, several blocks.
// Saves: x. Cost: a second forward pass; during its backward, all that its layer saves.
class Recomputed : public lesson01::Layer {
 public:
  explicit Recomputed(lesson01::LayerPtr layer) : layer_(std::move(layer)) {}
  Tensor forward(const Tensor& x, lesson01::SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override;
  void visit(const lesson01::ParameterVisitor& visitor) override { layer_->visit(visitor); }

 private:
  lesson01::LayerPtr layer_;
};

// A layer that costs next to nothing (LayerNorm, GELU) and the Linear that reads its output h.
// Linear's own product is not repeated: its backward needs h, not what it made of it.
// Saves: x. Cost: the cheap layer's forward once more.
class CheapThenLinear : public lesson01::Layer {
 public:
  // Requires: `linear` saves its input and nothing else.
  CheapThenLinear(lesson01::LayerPtr cheap, lesson01::LayerPtr linear)
      : cheap_(std::move(cheap)), linear_(std::move(linear)) {}
  Tensor forward(const Tensor& x, lesson01::SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override;
  void visit(const lesson01::ParameterVisitor& visitor) override;

 private:
  lesson01::LayerPtr cheap_, linear_;
};

}  // namespace shardlings::lesson03
