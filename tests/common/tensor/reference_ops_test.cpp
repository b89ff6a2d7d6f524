// The oracle is tested too: its gradients against finite differences of its forwards.
#include "tests/common/tensor/op_bench.h"
#include "tests/support/catch.h"

using namespace shardlings;
using reference::Values;

namespace {

Values random(const std::string& name, std::int64_t count) {
  MemoryLedger memory("device");
  WorkLedger work;
  CpuDevice device(memory, work, 1);
  return OpBench(device, DType::f64).random(name, count);
}

double inner_product(const Values& a, const Values& b) {
  return reference::dot(a, 0, b, 0, static_cast<std::int64_t>(a.size()));
}

// d/dx of value(x), by central differences.
void check_gradient(const Values& gradient, Values x,
                    const std::function<double(const Values&)>& value) {
  constexpr double kStep = 1e-5;
  REQUIRE(gradient.size() == x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = x[i];
    x[i] = here + kStep;
    const double above = value(x);
    x[i] = here - kStep;
    const double below = value(x);
    x[i] = here;
    REQUIRE(gradient[i] == Approx((above - below) / (2 * kStep)).margin(1e-8));
  }
}

}  // namespace

TEST_CASE("reference: the derivative of gelu") {
  for (const double x : {-3.0, -0.5, 0.0, 0.1, 2.0})
    check_gradient({reference::gelu_derivative(x)}, {x},
                   [](const Values& v) { return reference::gelu(v[0]); });
}

TEST_CASE("reference: the gradients of layer norm") {
  const std::int64_t rows = 3, D = 5;
  const Values x = random("x", rows * D), weight = random("weight", D), bias = random("bias", D),
               d_y = random("d_y", rows * D);
  const auto gradients = reference::layer_norm_backward(x, weight, d_y, D);
  check_gradient(gradients.d_x, x, [&](const Values& v) {
    return inner_product(reference::layer_norm(v, weight, bias, D).y, d_y);
  });
  check_gradient(gradients.d_weight, weight, [&](const Values& v) {
    return inner_product(reference::layer_norm(x, v, bias, D).y, d_y);
  });
  check_gradient(gradients.d_bias, bias, [&](const Values& v) {
    return inner_product(reference::layer_norm(x, weight, v, D).y, d_y);
  });
}

TEST_CASE("reference: the gradient of cross-entropy") {
  const std::int64_t rows = 3, V = 7;
  const Values logits = random("logits", rows * V), weight{1, 0, 0.5};
  const reference::Indices target{0, 3, 6};
  const double scale = 0.25;
  const auto loss = [&](const Values& x) {
    return scale *
           inner_product(reference::cross_entropy(x, target, weight, scale, V).loss, {1, 1, 1});
  };
  check_gradient(reference::cross_entropy(logits, target, weight, scale, V).d_logits, logits, loss);
}

TEST_CASE("reference: the gradients of attention") {
  const reference::AttentionCase a{
      .B = 2, .queries = 4, .keys = 6, .H = 3, .K = 2, .query_offset = 1, .key_offset = 2};
  const Values q = random("q", 2 * 4 * 6), k = random("k", 2 * 6 * 6), v = random("v", 2 * 6 * 6),
               d_o = random("d_o", 2 * 4 * 6);
  const auto gradients = reference::attention_backward(a, q, k, v, d_o);
  check_gradient(gradients.d_q, q, [&](const Values& x) {
    return inner_product(reference::attention(a, x, k, v).o, d_o);
  });
  check_gradient(gradients.d_k, k, [&](const Values& x) {
    return inner_product(reference::attention(a, q, x, v).o, d_o);
  });
  check_gradient(gradients.d_v, v, [&](const Values& x) {
    return inner_product(reference::attention(a, q, k, x).o, d_o);
  });
}
