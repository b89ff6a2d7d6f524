// The four layers of a transformer block.
//
// x_BTD is any tensor whose last dimension is D; all dimensions before it are rows. "Saves" lists
// what stays on the stack until backward, in elements.
#pragma once

#include "lessons/01_training_step/layer.h"

namespace shardlings::lesson01 {

// What a layer is built from: where, in which type, and its name in the model ("h.0.mlp.c_fc").
struct LayerContext {
  Device& device;
  DType dtype;
  std::string name;

  LayerContext part(std::string_view suffix) const {
    return {device, dtype, name + "." + std::string(suffix)};
  }
};

// y_BTN = x_BTM W_MN + b_N.
// Saves: x (B T M). Cost: 2 B T M N FLOPs forward, twice that backward.
class Linear : public Layer {
 public:
  Linear(const LayerContext& context, std::int64_t M, std::int64_t N, Init weight_init);
  Tensor forward(const Tensor& x, SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override;
  void visit(const ParameterVisitor& visitor) override;

 private:
  std::string name_;
  Parameter weight_, bias_;
};

// Each row to mean 0 and variance 1, then a scale and a shift per column (epsilon 1e-5).
// Saves: x (B T D), mean and inverse deviation (2 B T).
class LayerNorm : public Layer {
 public:
  LayerNorm(const LayerContext& context, std::int64_t D);
  Tensor forward(const Tensor& x, SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override;
  void visit(const ParameterVisitor& visitor) override;

 private:
  std::string name_;
  Parameter weight_, bias_;
};

// The tanh form of GELU, as in GPT-2. Saves: x.
class Gelu : public Layer {
 public:
  explicit Gelu(const LayerContext& context) : name_(context.name) {}
  Tensor forward(const Tensor& x, SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override;
  void visit(const ParameterVisitor&) override {}

 private:
  std::string name_;
};

// Causal attention over H heads of width K = D / H, without the projections around it. Its input
// holds queries, keys and values side by side: qkv_BT3D = q | k | v. Scores live in tiles and never
// exist as a whole. Saves: qkv (3 B T D), the output (B T D) and a log-sum-exp per head and token
// (B H T). Cost: 4 B T^2 D FLOPs forward and twice that backward by the convention of the
// literature; really about half of that (the causal mask), and one more product in backward (scores
// again).
class Attention : public Layer {
 public:
  Attention(const LayerContext& context, std::int64_t H) : name_(context.name), H_(H) {}
  Tensor forward(const Tensor& qkv, SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override;
  void visit(const ParameterVisitor&) override {}

 private:
  std::string name_;
  std::int64_t H_;
};

}  // namespace shardlings::lesson01
