// GPT-2: embedding, L blocks, head (Radford et al. 2019; pre-norm, biases everywhere, tied output
// matrix).
//
// Parameter names and shapes are those of the published GPT-2 checkpoints, initial deviations those
// of Hugging Face's GPT-2. P = V D + T D + L (12 D^2 + 13 D) + 2 D parameters.
#pragma once

#include <functional>

#include "base/model_size.h"
#include "lessons/01_training_step/batch.h"
#include "lessons/01_training_step/layers.h"

namespace shardlings::lesson01 {

// x_BTD = wte[token] + wpe[position]. Saves: tokens and positions (2 B T of i32).
class Embedding {
 public:
  Embedding(Device& device, DType dtype, const ModelSize& size);
  Tensor forward(const Tensor& tokens_BT, const Tensor& positions_BT, SavedTensors& saved);
  void backward(const Tensor& d_x, SavedTensors& saved);
  void visit(const ParameterVisitor& visitor);

  // The tied matrix: rows of wte are looked up here, and compared with by the head.
  Parameter& token_table() { return token_table_; }

 private:
  Parameter token_table_;     // wte.weight [V, D]
  Parameter position_table_;  // wpe.weight [T, D]
};

// A pre-norm transformer block: x + attention(norm(x)), then x + mlp(norm(x)). It owns its parts by
// interface, so that a later lesson can put another part in a part's place.
class Block : public Layer {
 public:
  Block(const LayerContext& context, const ModelSize& size);
  Tensor forward(const Tensor& x, SavedTensors& saved) override;
  Tensor backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) override;
  void visit(const ParameterVisitor& visitor) override;

  LayerPtr norm_1, qkv, attention, projection;  // the attention branch
  LayerPtr norm_2, up, gelu, down;              // the MLP branch

 private:
  std::string name_;
};

// Makes block l of a model; `context.name` is "h.l". A later lesson makes a Block, and puts another
// part in a part's place or wraps the whole.
using MakeBlock = std::function<LayerPtr(const LayerContext& context, const ModelSize& size)>;
LayerPtr make_plain_block(const LayerContext& context, const ModelSize& size);

// Final norm, logits over the vocabulary, and the loss.
// Saves: the norm's, its output (B T D), logits (B T V), log-sum-exp and weights (2 B T), targets
// (B T of i32).
class Head {
 public:
  // `output_matrix` [V, D] is the tied token table. Requires: it outlives the head.
  Head(Device& device, DType dtype, const ModelSize& size, Parameter& output_matrix);

  // The cross-entropy in nats, summed over the valid tokens of the batch.
  double forward(const Tensor& x, const Batch& batch, SavedTensors& saved);
  // Gradient of scale * that sum. `scale` is 1 / (valid tokens of the global batch).
  Tensor backward(double scale, SavedTensors& saved, WeightGradients& weights);
  void visit(const ParameterVisitor& visitor) { norm_.visit(visitor); }

  // logits_BTV = norm(x_BTD) wte^T
  Tensor logits(const Tensor& x, SavedTensors& saved);

 private:
  LayerNorm norm_;
  Parameter& output_matrix_;
};

class Gpt {
 public:
  // Requires: violated_rules(size) is empty.
  // Cost: P parameters in bytes of `dtype`.
  Gpt(Device& device, DType dtype, const ModelSize& size, std::uint64_t seed,
      const MakeBlock& make_block = make_plain_block);
  Gpt(const Gpt&) = delete;
  Gpt& operator=(const Gpt&) = delete;

  // The loss in nats, summed over the valid tokens of the batch.
  double forward(const Batch& batch, SavedTensors& saved);
  // Adds the gradients of scale * that sum to every parameter's gradient.
  void backward(double scale, SavedTensors& saved, WeightGradients& weights);

  void visit(const ParameterVisitor& visitor);
  Parameters parameters();

  // Logits of the token after `tokens`, V of them. Requires: 1 to T tokens.
  std::vector<double> next_token_logits(const std::vector<std::int32_t>& tokens);

  Device& device() const { return device_; }
  DType dtype() const { return dtype_; }
  const ModelSize& size() const { return size_; }
  Embedding& embedding() { return embedding_; }
  Sequential& blocks() { return blocks_; }

 private:
  Device& device_;
  DType dtype_;
  ModelSize size_;
  Embedding embedding_;
  Sequential blocks_;
  Head head_;
};

}  // namespace shardlings::lesson01
