#include "lessons/02_activation_memory/plain_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lessons/02_activation_memory/exercise.h"

namespace shardlings::lesson02 {

namespace {

constexpr std::int64_t kKeysPerBlock = 16;

// One head of one sequence. Its query, key and value of token t begin `stride` * t further on.
struct Head {
  const double *q, *k, *v;
  std::int64_t K, stride;
};

// [slide over_block]
// What query t finds among the keys [begin, end). Requires: it may see them all.
PartialSoftmax over_block(const Head& head, std::int64_t t, std::int64_t begin, std::int64_t end) {
  const double* q_K = head.q + t * head.stride;
  std::array<double, kKeysPerBlock> scores;  // all that ever exist of the T x T
  for (std::int64_t j = begin; j < end; ++j) {
    const double* k_K = head.k + j * head.stride;
    scores[j - begin] = std::inner_product(q_K, q_K + head.K, k_K, 0.0) / std::sqrt(head.K);
  }
  const double maximum = *std::max_element(scores.begin(), scores.begin() + (end - begin));
  double sum = 0;
  PartialSoftmax found{.o = std::vector<double>(head.K)};
  for (std::int64_t j = begin; j < end; ++j) {
    const double* v_K = head.v + j * head.stride;
    const double weight = std::exp(scores[j - begin] - maximum);
    for (std::int64_t i = 0; i < head.K; ++i) found.o[i] += weight * v_K[i];
    sum += weight;
  }
  for (double& value : found.o) value /= sum;
  found.log_sum_exp = maximum + std::log(sum);
  return found;
}
// [end slide]

// What query t finds among the keys 0 to t.
PartialSoftmax over_all(const Head& head, std::int64_t t) {
  PartialSoftmax total{.o = std::vector<double>(head.K)};
  for (std::int64_t begin = 0; begin <= t; begin += kKeysPerBlock)
    merge(total, over_block(head, t, begin, std::min(begin + kKeysPerBlock, t + 1)));
  CHECK(std::ssize(total.o) == head.K, "merge: {} elements of o, expected {}", total.o.size(),
        head.K);
  return total;
}

}  // namespace

Tensor PlainAttention::forward(const Tensor& qkv, lesson01::SavedTensors& saved) {
  const std::int64_t B = qkv.size(0), T = qkv.size(1), D = qkv.size(2) / 3, K = D / H_;
  const std::vector<double> qkv_BT3D = qkv.to_doubles();
  std::vector<double> y_BTD(B * T * D), log_sum_exp_BHT(B * H_ * T);
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < H_; ++h) {
      const double* q = qkv_BT3D.data() + b * T * 3 * D + h * K;
      const Head head{.q = q, .k = q + D, .v = q + 2 * D, .K = K, .stride = 3 * D};
      for (std::int64_t t = 0; t < T; ++t) {
        const PartialSoftmax total = over_all(head, t);
        std::ranges::copy(total.o, y_BTD.begin() + (b * T + t) * D + h * K);
        log_sum_exp_BHT[(b * H_ + h) * T + t] = total.log_sum_exp;
      }
    }
  const Tensor log_sum_exp(qkv.device(), qkv.dtype(), {B, H_, T}, name_);
  const Tensor y(qkv.device(), qkv.dtype(), {B, T, D}, name_);
  log_sum_exp.from_doubles(log_sum_exp_BHT);
  y.from_doubles(y_BTD);
  for (const Tensor& tensor : {qkv, y, log_sum_exp}) saved.push(tensor);
  return y;
}

}  // namespace shardlings::lesson02
