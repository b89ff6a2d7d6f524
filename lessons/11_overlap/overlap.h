// Communication beside computation: a bucket's sum begins as soon as backward has completed it.
//
// [Li et al. 2020, PyTorch Distributed, arXiv:2006.15704, section 3.2.3]
#pragma once

#include "lessons/01_training_step/gpt.h"
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

// A layer that tells, after its backward, that its gradients have been added to.
class ReducedInBackward : public lesson01::Layer {
 public:
  // `end`: where the layer's gradients end among the buckets. Requires: `reduction` and `dp`
  // outlive this.
  ReducedInBackward(lesson01::LayerPtr layer, std::int64_t end, OverlappedReduction& reduction,
                    Communicator& dp)
      : layer_(std::move(layer)), end_(end), reduction_(reduction), dp_(dp) {}

  Tensor forward(const Tensor& x, lesson01::SavedTensors& saved) override {
    return layer_->forward(x, saved);
  }
  Tensor backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                  lesson01::WeightGradients& weights) override;
  void visit(const lesson01::ParameterVisitor& visitor) override { layer_->visit(visitor); }

 private:
  lesson01::LayerPtr layer_;
  std::int64_t end_;
  OverlappedReduction& reduction_;
  Communicator& dp_;
};

// Wraps every block of the model.
void reduce_in_backward(lesson01::Gpt& model, OverlappedReduction& reduction, Communicator& dp);

}  // namespace shardlings::lesson11
