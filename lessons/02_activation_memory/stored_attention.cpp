#include "lessons/02_activation_memory/stored_attention.h"

namespace shardlings::lesson02 {

Tensor StoredAttention::forward(const Tensor& qkv, lesson01::SavedTensors& saved) {
  const std::int64_t B = qkv.size(0), T = qkv.size(1), D = qkv.size(2) / 3;
  const Tensor log_sum_exp(qkv.device(), qkv.dtype(), {B, H_, T}, name_);
  const Tensor probabilities(qkv.device(), qkv.dtype(), {B, H_, T, T}, name_ + ".scores");
  Tensor y(qkv.device(), qkv.dtype(), {B, T, D}, name_);
  attention(y, log_sum_exp, qkv.columns(0, D), qkv.columns(D, 2 * D), qkv.columns(2 * D, 3 * D), H_,
            {}, probabilities);
  for (const Tensor& tensor : {qkv, y, log_sum_exp, probabilities}) saved.push(tensor);
  return y;
}

Tensor StoredAttention::backward(const Tensor& d_y, lesson01::SavedTensors& saved,
                                 lesson01::WeightGradients&) {
  const Tensor probabilities = saved.pop(), log_sum_exp = saved.pop(), y = saved.pop();
  const Tensor qkv = saved.pop();
  const std::int64_t D = y.size(2);
  Tensor d_qkv(qkv.device(), qkv.dtype(), qkv.shape(), name_);
  attention_backward(d_qkv.columns(0, D), d_qkv.columns(D, 2 * D), d_qkv.columns(2 * D, 3 * D),
                     qkv.columns(0, D), qkv.columns(D, 2 * D), qkv.columns(2 * D, 3 * D), y,
                     log_sum_exp, d_y, H_, {}, probabilities);
  return d_qkv;
}

}  // namespace shardlings::lesson02
