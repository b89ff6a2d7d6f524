// GPT-2: embedding, L blocks, head (Radford et al. 2019; pre-norm, biases everywhere, tied output
// matrix).
//
// Parameter names and shapes are those of the published GPT-2 checkpoints, initial deviations those
// of Hugging Face's GPT-2. P = V D + T D + L (12 D^2 + 13 D) + 2 D parameters.
#pragma once

#include <functional>
#include <optional>

#include "base/model_size.h"
#include "lessons/01_training_step/batch.h"
#include "lessons/01_training_step/layers.h"

namespace shardlings::lesson01 {

// The two ends of a model, by interface as its layers: from tokens to x_BTD, and on to the loss.
class FirstLayer {
 public:
  virtual ~FirstLayer() = default;
  virtual Tensor forward(const Tensor& tokens_BT, const Tensor& positions_BT,
                         SavedTensors& saved) = 0;
  virtual void backward(const Tensor& d_x, SavedTensors& saved) = 0;
  virtual void visit(const ParameterVisitor& visitor) = 0;
};

class LastLayer {
 public:
  virtual ~LastLayer() = default;
  // The cross-entropy in nats, summed over the valid tokens of the batch.
  virtual double forward(const Tensor& x, const Batch& batch, SavedTensors& saved) = 0;
  // Gradient of scale * that sum. `scale` is 1 / (valid tokens of the global batch).
  virtual Tensor backward(double scale, SavedTensors& saved, WeightGradients& weights) = 0;
  virtual Tensor logits(const Tensor& x, SavedTensors& saved) = 0;
  virtual void visit(const ParameterVisitor& visitor) = 0;
};

// x_BTD = wte[token] + wpe[position]. Saves: tokens and positions (2 B T of i32).
class Embedding : public FirstLayer {
 public:
  Embedding(Device& device, DType dtype, const ModelSize& size);
  Tensor forward(const Tensor& tokens_BT, const Tensor& positions_BT, SavedTensors& saved) override;
  void backward(const Tensor& d_x, SavedTensors& saved) override;
  void visit(const ParameterVisitor& visitor) override;

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
class Head : public LastLayer {
 public:
  // `output_matrix` [V, D] is the tied token table. Requires: it outlives the head.
  Head(Device& device, DType dtype, const ModelSize& size, Parameter& output_matrix);

  double forward(const Tensor& x, const Batch& batch, SavedTensors& saved) override;
  Tensor backward(double scale, SavedTensors& saved, WeightGradients& weights) override;
  // logits_BTV = norm(x_BTD) wte^T
  Tensor logits(const Tensor& x, SavedTensors& saved) override;
  void visit(const ParameterVisitor& visitor) override { norm_.visit(visitor); }

 private:
  LayerNorm norm_;
  Parameter& output_matrix_;
};

class Gpt {
 public:
  // `seed` is that of the initial values. Without one, parameters have no storage yet, and who
  // asked for that brings it. Requires: violated_rules(size) is empty. Cost: P parameters in bytes
  // of `dtype`.
  Gpt(Device& device, DType dtype, const ModelSize& size, std::optional<std::uint64_t> seed,
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

  // For mechanisms that wrap or replace them.
  std::unique_ptr<FirstLayer>& first() { return first_; }
  Sequential& blocks() { return blocks_; }
  std::unique_ptr<LastLayer>& last() { return last_; }

 private:
  Device& device_;
  DType dtype_;
  ModelSize size_;
  std::unique_ptr<FirstLayer> first_;
  Sequential blocks_;
  std::unique_ptr<LastLayer> last_;
};

}  // namespace shardlings::lesson01
