#include "lessons/01_training_step/gpt.h"

#include <cmath>
#include <numeric>

namespace shardlings::lesson01 {

namespace {

constexpr double kInitialDeviation = 0.02;

// The last product of each branch adds to the residual stream, 2 L times in all: its deviation is
// divided by sqrt(2 L) to keep the stream's variance (Radford et al. 2019, section 2.3).
Init branch_end(const ModelSize& size) {
  return {.deviation = kInitialDeviation / std::sqrt(2.0 * static_cast<double>(size.L))};
}

std::vector<LayerPtr> make_blocks(Device& device, DType dtype, const ModelSize& size,
                                  const MakeBlock& make_block) {
  std::vector<LayerPtr> blocks;
  for (std::int64_t l = 0; l < size.L; ++l)
    blocks.push_back(make_block({device, dtype, fmt::format("h.{}", l)}, size));
  return blocks;
}

}  // namespace

// ---- Embedding ----

Embedding::Embedding(Device& device, DType dtype, const ModelSize& size)
    : token_table_(whole_parameter(device, dtype, "wte.weight", {size.V, size.D},
                                   {.deviation = kInitialDeviation})),
      position_table_(whole_parameter(device, dtype, "wpe.weight", {size.T, size.D},
                                      {.deviation = kInitialDeviation})) {}

Tensor Embedding::forward(const Tensor& tokens_BT, const Tensor& positions_BT,
                          SavedTensors& saved) {
  const Tensor& wte = token_table_.value;
  Tensor x_BTD(wte.device(), wte.dtype(), {tokens_BT.size(0), tokens_BT.size(1), wte.size(1)},
               "embedding");
  embedding(x_BTD, wte, position_table_.value, tokens_BT, positions_BT);
  saved.push(tokens_BT);
  saved.push(positions_BT);
  return x_BTD;
}

void Embedding::backward(const Tensor& d_x, SavedTensors& saved) {
  const Tensor positions = saved.pop();
  const Tensor tokens = saved.pop();
  const auto add_rows = [&](Parameter& table, const Tensor& index) {
    if (!table.open_gradient()) fill(table.gradient, 0);
    scatter_add_rows(table.gradient, d_x, index);
  };
  add_rows(position_table_, positions);
  // The head has already written its part of the tied matrix's gradient; this adds the other part.
  add_rows(token_table_, tokens);
}

void Embedding::visit(const ParameterVisitor& visitor) {
  visitor(token_table_);
  visitor(position_table_);
}

// ---- Block ----

Block::Block(const LayerContext& context, const ModelSize& size) : name_(context.name) {
  const std::int64_t D = size.D, F = size.F();
  const Init inner{.deviation = kInitialDeviation};
  norm_1 = std::make_unique<LayerNorm>(context.part("ln_1"), D);
  qkv = std::make_unique<Linear>(context.part("attn.c_attn"), D, 3 * D, inner);
  attention = std::make_unique<Attention>(context.part("attn"), size.H);
  projection = std::make_unique<Linear>(context.part("attn.c_proj"), D, D, branch_end(size));
  norm_2 = std::make_unique<LayerNorm>(context.part("ln_2"), D);
  up = std::make_unique<Linear>(context.part("mlp.c_fc"), D, F, inner);
  gelu = std::make_unique<Gelu>(context.part("mlp.gelu"));
  down = std::make_unique<Linear>(context.part("mlp.c_proj"), F, D, branch_end(size));
}

Tensor Block::forward(const Tensor& x, SavedTensors& saved) {
  const auto residual = [&](const Tensor& stream, std::initializer_list<Layer*> branch) {
    Tensor y = stream;
    for (Layer* layer : branch) y = layer->forward(y, saved);
    Tensor sum(x.device(), x.dtype(), x.shape(), name_);
    add(sum, stream, y);
    return sum;
  };
  const Tensor middle = residual(x, {norm_1.get(), qkv.get(), attention.get(), projection.get()});
  return residual(middle, {norm_2.get(), up.get(), gelu.get(), down.get()});
}

Tensor Block::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) {
  // y = x + f(x) has d_x = d_y + f'(x)^T d_y.
  const auto residual = [&](const Tensor& d_sum, std::initializer_list<Layer*> branch) {
    Tensor d_branch = d_sum;
    for (Layer* layer : branch) d_branch = layer->backward(d_branch, saved, weights);
    add_scaled(d_branch, d_sum, 1);
    return d_branch;
  };
  const Tensor d_middle = residual(d_y, {down.get(), gelu.get(), up.get(), norm_2.get()});
  return residual(d_middle, {projection.get(), attention.get(), qkv.get(), norm_1.get()});
}

void Block::visit(const ParameterVisitor& visitor) {
  for (Layer* layer : {norm_1.get(), qkv.get(), attention.get(), projection.get(), norm_2.get(),
                       up.get(), gelu.get(), down.get()})
    layer->visit(visitor);
}

LayerPtr make_plain_block(const LayerContext& context, const ModelSize& size) {
  return std::make_unique<Block>(context, size);
}

// ---- Head ----

Head::Head(Device& device, DType dtype, const ModelSize& size, Parameter& output_matrix)
    : norm_(LayerContext{device, dtype, "ln_f"}, size.D), output_matrix_(output_matrix) {}

Tensor Head::logits(const Tensor& x, SavedTensors& saved) {
  const Tensor y = norm_.forward(x, saved);
  Tensor logits_BTV(x.device(), x.dtype(), x.shape().with_last(output_matrix_.value.size(0)),
                    "logits");
  linear_transposed(logits_BTV, y, output_matrix_.value);
  saved.push(y);
  return logits_BTV;
}

double Head::forward(const Tensor& x, const Batch& batch, SavedTensors& saved) {
  const Tensor logits_BTV = logits(x, saved);
  const Shape one_per_token{x.elements() / x.shape().last()};
  const Tensor loss(x.device(), x.dtype(), one_per_token, "loss");
  const Tensor log_sum_exp(x.device(), x.dtype(), one_per_token, "loss");
  cross_entropy(loss, log_sum_exp, logits_BTV, batch.targets_BT, batch.weights_BT);
  for (const Tensor& tensor : {logits_BTV, log_sum_exp, batch.targets_BT, batch.weights_BT})
    saved.push(tensor);
  return sum(loss);
}

Tensor Head::backward(double scale, SavedTensors& saved, WeightGradients& weights) {
  const Tensor token_weights = saved.pop(), targets = saved.pop(), log_sum_exp = saved.pop();
  const Tensor d_logits = saved.pop();  // holds the logits until the next line
  cross_entropy_backward(d_logits, log_sum_exp, targets, token_weights, scale);
  const Tensor y = saved.pop();
  weights.add(output_matrix_, d_logits, y);
  const Tensor d_y(y.device(), y.dtype(), y.shape(), "head");
  linear(d_y, d_logits, output_matrix_.value);
  return norm_.backward(d_y, saved, weights);
}

// ---- Gpt ----

Gpt::Gpt(Device& device, DType dtype, const ModelSize& size, std::optional<std::uint64_t> seed,
         const MakeBlock& make_block)
    : device_(device),
      dtype_(dtype),
      size_(size),
      blocks_(make_blocks(device, dtype, size, make_block)) {
  auto embedding = std::make_unique<Embedding>(device, dtype, size);
  last_ = std::make_unique<Head>(device, dtype, size, embedding->token_table());
  first_ = std::move(embedding);
  if (seed) visit([&](Parameter& parameter) { initialise(parameter, *seed); });
}

double Gpt::forward(const Batch& batch, SavedTensors& saved) {
  const Tensor x = first_->forward(batch.tokens_BT, batch.positions_BT, saved);
  return last_->forward(blocks_.forward(x, saved), batch, saved);
}

void Gpt::backward(double scale, SavedTensors& saved, WeightGradients& weights) {
  const Tensor d_x = last_->backward(scale, saved, weights);
  first_->backward(blocks_.backward(d_x, saved, weights), saved);
}

void Gpt::visit(const ParameterVisitor& visitor) {
  first_->visit(visitor);
  blocks_.visit(visitor);
  last_->visit(visitor);
}

Parameters Gpt::parameters() {
  Parameters parameters;
  visit([&](Parameter& parameter) { parameters.push_back(&parameter); });
  return parameters;
}

std::vector<double> Gpt::next_token_logits(const std::vector<std::int32_t>& tokens) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  CHECK(count >= 1 && count <= size_.T, "{} tokens, the context holds 1 to {}", count, size_.T);
  std::vector<std::int32_t> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), 0);
  const Tensor tokens_BT(device_, DType::i32, {1, count}, "sample");
  const Tensor positions_BT(device_, DType::i32, {1, count}, "sample");
  tokens_BT.from_host<std::int32_t>(tokens);
  positions_BT.from_host<std::int32_t>(positions);
  SavedTensors none = SavedTensors::none();
  const Tensor x = blocks_.forward(first_->forward(tokens_BT, positions_BT, none), none);
  const Tensor last_x = x.view({count, size_.D}).rows(count - 1, count);
  return last_->logits(last_x, none).to_doubles();
}

}  // namespace shardlings::lesson01
