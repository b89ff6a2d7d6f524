#include "bench/rates.h"

#include <algorithm>
#include <chrono>

namespace shardlings {

namespace {

// The best of five turns; a turn takes as many calls as fill a twentieth of a second.
template <class Call>
double best_rate(Device& device, const Call& call) {
  constexpr double kShortestTurn = 0.05;
  const std::int64_t flops_before = device.work().total().executed_flops;
  call();
  const auto flops = static_cast<double>(device.work().total().executed_flops - flops_before);
  const auto seconds_of = [&](int calls) {
    device.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    device.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  int calls = 1;
  while (seconds_of(calls) < kShortestTurn) calls *= 2;
  double best = 0;
  for (int turn = 0; turn < 5; ++turn) best = std::max(best, calls * flops / seconds_of(calls));
  return best;
}

Tensor small_values(Device& device, DType dtype, const Shape& shape) {
  const Tensor x(device, dtype, shape, "bench");
  x.from_doubles(std::vector<double>(static_cast<std::size_t>(shape.elements()), 0.01));
  return x;
}

}  // namespace

double product_rate(Device& device, DType dtype, std::int64_t R, std::int64_t M, std::int64_t N) {
  const Tensor y = small_values(device, dtype, {R, N}), x = small_values(device, dtype, {R, M}),
               w = small_values(device, dtype, {M, N});
  return best_rate(device, [&] { linear(y, x, w); });
}

double attention_rate(Device& device, DType dtype, std::int64_t B, std::int64_t T, std::int64_t D,
                      std::int64_t H) {
  const auto x_BTD = [&] { return small_values(device, dtype, {B, T, D}); };
  const Tensor q = x_BTD(), k = x_BTD(), v = x_BTD(), o = x_BTD(), d_q = x_BTD(), d_k = x_BTD(),
               d_v = x_BTD(), d_o = x_BTD(), log_sum_exp = small_values(device, dtype, {B, H, T});
  return best_rate(device, [&] {
    attention(o, log_sum_exp, q, k, v, H);
    attention_backward(d_q, d_k, d_v, q, k, v, o, log_sum_exp, d_o, H);
  });
}

}  // namespace shardlings
