// Tiled attention, written out: one query at a time, one block of keys after the other.
#pragma once

#include "lessons/01_training_step/layers.h"

namespace shardlings::lesson02 {

// The function of lesson01::Attention, computed on the host in double. Never more than one block of
// scores exists; what the blocks find is put together by merge(), the exercise. Backward is the
// device's: it reads the same saved tensors.
// Saves: what lesson01::Attention saves. Cost: its forward on one core of the host, where no ledger
// sees it.
class PlainAttention : public lesson01::Layer {
 public:
  PlainAttention(const lesson01::LayerContext& context, std::int64_t H)
      : name_(context.name), H_(H), on_device_(context, H) {}
  Tensor forward(const Tensor& qkv, lesson01::SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override {
    return on_device_.backward(d_y, saved, weights);
  }
  void visit(const lesson01::ParameterVisitor&) override {}

 private:
  std::string name_;
  std::int64_t H_;
  lesson01::Attention on_device_;
};

}  // namespace shardlings::lesson02
