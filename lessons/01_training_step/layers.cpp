#include "lessons/01_training_step/layers.h"

// A Range names what a layer launches in a profiler's picture; it computes nothing.
namespace shardlings::lesson01 {

namespace {

// A new tensor on the device of `x`, with rows of another width.
Tensor with_columns(const Tensor& x, std::int64_t columns, const std::string& owner) {
  return {x.device(), x.dtype(), x.shape().with_last(columns), owner};
}

Tensor like(const Tensor& x, const std::string& owner) {
  return with_columns(x, x.shape().last(), owner);
}

}  // namespace

// ---- Linear ----

Linear::Linear(const LayerContext& context, std::int64_t M, std::int64_t N, Init weight_init)
    : name_(context.name),
      weight_(
          whole_parameter(context.device, context.dtype, name_ + ".weight", {M, N}, weight_init)),
      bias_(whole_parameter(context.device, context.dtype, name_ + ".bias", {N}, {})) {}

Tensor Linear::forward(const Tensor& x, SavedTensors& saved) {
  const Range range(x.device(), name_);
  Tensor y = with_columns(x, weight_.value.size(1), name_);
  linear(y, x, weight_.value, bias_.value);
  saved.push(x);
  return y;
}

Tensor Linear::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients& weights) {
  const Range range(d_y.device(), name_);
  const Tensor x = saved.pop();
  const bool accumulate = bias_.open_gradient();
  column_sum(bias_.gradient, d_y, accumulate);  // d_b = sum over rows of d_Y
  weights.add(weight_, x, d_y);                 // d_W = X^T d_Y
  Tensor d_x = like(x, name_);
  linear_transposed(d_x, d_y, weight_.value);  // d_X = d_Y W^T
  return d_x;
}

void Linear::visit(const ParameterVisitor& visitor) {
  visitor(weight_);
  visitor(bias_);
}

// ---- LayerNorm ----

LayerNorm::LayerNorm(const LayerContext& context, std::int64_t D)
    : name_(context.name),
      weight_(whole_parameter(context.device, context.dtype, name_ + ".weight", {D}, {.mean = 1})),
      bias_(whole_parameter(context.device, context.dtype, name_ + ".bias", {D}, {})) {}

Tensor LayerNorm::forward(const Tensor& x, SavedTensors& saved) {
  const Range range(x.device(), name_);
  const Shape one_per_row{x.elements() / x.shape().last()};
  const Tensor mean(x.device(), x.dtype(), one_per_row, name_);
  const Tensor inverse_deviation(x.device(), x.dtype(), one_per_row, name_);
  Tensor y = like(x, name_);
  layer_norm(y, mean, inverse_deviation, x, weight_.value, bias_.value);
  saved.push(x);
  saved.push(mean);
  saved.push(inverse_deviation);
  return y;
}

Tensor LayerNorm::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients&) {
  const Range range(d_y.device(), name_);
  const Tensor inverse_deviation = saved.pop();
  const Tensor mean = saved.pop();
  const Tensor x = saved.pop();
  const bool accumulate = weight_.open_gradient();
  bias_.open_gradient();
  Tensor d_x = like(x, name_);
  layer_norm_backward(d_x, weight_.gradient, bias_.gradient, x, mean, inverse_deviation,
                      weight_.value, d_y, accumulate);
  return d_x;
}

void LayerNorm::visit(const ParameterVisitor& visitor) {
  visitor(weight_);
  visitor(bias_);
}

// ---- Gelu ----

Tensor Gelu::forward(const Tensor& x, SavedTensors& saved) {
  const Range range(x.device(), name_);
  Tensor y = like(x, name_);
  gelu(y, x);
  saved.push(x);
  return y;
}

Tensor Gelu::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients&) {
  const Range range(d_y.device(), name_);
  const Tensor x = saved.pop();
  Tensor d_x = like(x, name_);
  gelu_backward(d_x, x, d_y);
  return d_x;
}

// ---- Attention ----

Tensor Attention::forward(const Tensor& qkv, SavedTensors& saved) {
  const Range range(qkv.device(), name_);
  const std::int64_t B = qkv.size(0), T = qkv.size(1), D = qkv.size(2) / 3;
  const Tensor log_sum_exp(qkv.device(), qkv.dtype(), {B, H_, T}, name_);
  Tensor y = with_columns(qkv, D, name_);
  attention(y, log_sum_exp, qkv.columns(0, D), qkv.columns(D, 2 * D), qkv.columns(2 * D, 3 * D),
            H_);
  saved.push(qkv);
  saved.push(y);
  saved.push(log_sum_exp);
  return y;
}

Tensor Attention::backward(const Tensor& d_y, SavedTensors& saved, WeightGradients&) {
  const Range range(d_y.device(), name_);
  const Tensor log_sum_exp = saved.pop();
  const Tensor y = saved.pop();
  const Tensor qkv = saved.pop();
  const std::int64_t D = y.size(2);
  Tensor d_qkv = like(qkv, name_);
  attention_backward(d_qkv.columns(0, D), d_qkv.columns(D, 2 * D), d_qkv.columns(2 * D, 3 * D),
                     qkv.columns(0, D), qkv.columns(D, 2 * D), qkv.columns(2 * D, 3 * D), y,
                     log_sum_exp, d_y, H_);
  return d_qkv;
}

}  // namespace shardlings::lesson01
