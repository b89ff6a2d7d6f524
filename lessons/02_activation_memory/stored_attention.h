// Attention that keeps its scores: what a framework does that has no fused kernel.
#pragma once

#include "lessons/01_training_step/layers.h"

namespace shardlings::lesson02 {

// The function of lesson01::Attention, and its gradients. Here the probabilities, softmax of the
// masked scores, exist as a whole: T x T per head, from forward until backward.
// Saves: what lesson01::Attention saves, and the probabilities (B H T^2) under the name
// "<name>.scores". Cost: as lesson01::Attention, without forming the scores again in backward.
class StoredAttention : public lesson01::Layer {
 public:
  StoredAttention(const lesson01::LayerContext& context, std::int64_t H)
      : name_(context.name), H_(H) {}
  Tensor forward(const Tensor& qkv, lesson01::SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override;
  void visit(const lesson01::ParameterVisitor&) override {}

 private:
  std::string name_;
  std::int64_t H_;
};

}  // namespace shardlings::lesson02
