// The operations of tensor/ops.h once more, as plain as they can be written: loops over doubles,
// straight from the definitions. The oracle of the tests of every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace shardlings::reference {

using Values = std::vector<double>;
using Indices = std::vector<std::int32_t>;
using Size = std::int64_t;

inline std::size_t at(Size i) {
  return static_cast<std::size_t>(i);
}

inline Values zeros(Size count) {
  return Values(at(count));
}

// c[i, j] = sum over k of a(i, k) b(k, j)
template <class A, class B>
Values product(Size rows, Size columns, Size inner, const A& a, const B& b) {
  Values c = zeros(rows * columns);
  for (Size i = 0; i < rows; ++i)
    for (Size j = 0; j < columns; ++j)
      for (Size k = 0; k < inner; ++k) c[at(i * columns + j)] += a(i, k) * b(k, j);
  return c;
}

// Element (i, j) of a matrix that many columns wide.
inline auto element(const Values& x, Size columns) {
  return [&x, columns](Size i, Size j) { return x[at(i * columns + j)]; };
}

inline auto transposed_element(const Values& x, Size columns) {
  return [&x, columns](Size i, Size j) { return x[at(j * columns + i)]; };
}

inline Values plus(Values x, const Values& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

template <class Function>
Values each(const Values& x, const Function& function) {
  Values y;
  for (const double value : x) y.push_back(function(value));
  return y;
}

inline double gelu(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(u));
}

inline double gelu_derivative(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

inline Values column_sum(const Values& x, Size columns) {
  Values sum = zeros(columns);
  for (std::size_t i = 0; i < x.size(); ++i) sum[i % at(columns)] += x[i];
  return sum;
}

// ---- layer norm ---------------------------------------------------------------------------------

struct LayerNorm {
  Values y, mean, inverse_deviation;
};

inline LayerNorm layer_norm(const Values& x, const Values& weight, const Values& bias, Size D) {
  LayerNorm result;
  for (Size r = 0; r < static_cast<Size>(x.size()) / D; ++r) {
    // With more digits than double, for rows whose mean is far larger than their deviation.
    long double sum = 0, squares = 0;
    for (Size i = 0; i < D; ++i) sum += x[at(r * D + i)];
    const auto mean = static_cast<double>(sum / static_cast<long double>(D));
    for (Size i = 0; i < D; ++i) squares += std::pow(x[at(r * D + i)] - mean, 2.0L);
    const double variance = static_cast<double>(squares) / static_cast<double>(D);
    const double s = 1 / std::sqrt(variance + 1e-5);
    result.mean.push_back(mean);
    result.inverse_deviation.push_back(s);
    for (Size i = 0; i < D; ++i)
      result.y.push_back((x[at(r * D + i)] - mean) * s * weight[at(i)] + bias[at(i)]);
  }
  return result;
}

struct LayerNormGradients {
  Values d_x, d_weight, d_bias;
};

// By the chain rule through mean and variance, without the simplification that kernels use.
inline LayerNormGradients layer_norm_backward(const Values& x, const Values& weight,
                                              const Values& d_y, Size D) {
  const LayerNorm forward = layer_norm(x, weight, zeros(D), D);
  LayerNormGradients result{zeros(static_cast<Size>(x.size())), zeros(D), zeros(D)};
  const double width = static_cast<double>(D);
  for (Size r = 0; r < static_cast<Size>(x.size()) / D; ++r) {
    const double mean = forward.mean[at(r)], s = forward.inverse_deviation[at(r)];
    double d_s = 0, d_mean = 0;
    for (Size i = 0; i < D; ++i) {
      const double centred = x[at(r * D + i)] - mean, d_out = d_y[at(r * D + i)];
      result.d_weight[at(i)] += d_out * centred * s;
      result.d_bias[at(i)] += d_out;
      d_s += d_out * weight[at(i)] * centred;
      d_mean -= d_out * weight[at(i)] * s;
    }
    // s = (variance + epsilon)^(-1/2)
    const double d_variance = d_s * -0.5 * s * s * s;
    for (Size i = 0; i < D; ++i)
      result.d_x[at(r * D + i)] = d_y[at(r * D + i)] * weight[at(i)] * s + d_mean / width +
                                  d_variance * 2 * (x[at(r * D + i)] - mean) / width;
  }
  return result;
}

// ---- cross-entropy ------------------------------------------------------------------------------

struct CrossEntropy {
  Values loss, log_sum_exp, d_logits;
};

inline CrossEntropy cross_entropy(const Values& logits, const Indices& target, const Values& weight,
                                  double scale, Size V) {
  CrossEntropy result;
  for (Size r = 0; r < static_cast<Size>(target.size()); ++r) {
    const auto logit = [&](Size v) { return logits[at(r * V + v)]; };
    double largest = logit(0), sum = 0;
    for (Size v = 0; v < V; ++v) largest = std::max(largest, logit(v));
    for (Size v = 0; v < V; ++v) sum += std::exp(logit(v) - largest);
    const double total = largest + std::log(sum);
    result.log_sum_exp.push_back(total);
    result.loss.push_back(weight[at(r)] * (total - logit(target[at(r)])));
    for (Size v = 0; v < V; ++v)
      result.d_logits.push_back(scale * weight[at(r)] *
                                (std::exp(logit(v) - total) - (v == target[at(r)])));
  }
  return result;
}

// ---- attention ----------------------------------------------------------------------------------

struct AttentionCase {
  Size B, queries, keys, H, K;
  Size query_offset = 0, key_offset = 0;

  Size D() const { return H * K; }
  bool sees(Size i, Size j) const { return key_offset + j <= query_offset + i; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(K)); }
  // Where token t of `tokens` and the first column of head h lie in B x tokens x D.
  std::size_t head(Size b, Size t, Size h, Size tokens) const {
    return at((b * tokens + t) * D() + h * K);
  }
  std::size_t row(Size b, Size h, Size i) const { return at((b * H + h) * queries + i); }
};

struct Attention {
  Values o, log_sum_exp, probabilities;
};

inline double dot(const Values& a, std::size_t i, const Values& b, std::size_t j, Size count) {
  double sum = 0;
  for (std::size_t c = 0; c < at(count); ++c) sum += a[i + c] * b[j + c];
  return sum;
}

// y[j ...] += factor x[i ...]
inline void add_to(Values& y, std::size_t j, double factor, const Values& x, std::size_t i,
                   Size count) {
  for (std::size_t c = 0; c < at(count); ++c) y[j + c] += factor * x[i + c];
}

// function(b, h, i) for every row of scores.
template <class Function>
void each_row(const AttentionCase& a, const Function& function) {
  for (Size b = 0; b < a.B; ++b)
    for (Size h = 0; h < a.H; ++h)
      for (Size i = 0; i < a.queries; ++i) function(b, h, i);
}

inline Attention attention(const AttentionCase& a, const Values& q, const Values& k,
                           const Values& v) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  Attention result{zeros(a.B * a.queries * a.D()), Values(at(a.B * a.H * a.queries), kNothing),
                   zeros(a.B * a.H * a.queries * a.keys)};
  each_row(a, [&](Size b, Size h, Size i) {
    const std::size_t query = a.head(b, i, h, a.queries), row = a.row(b, h, i);
    const auto score = [&](Size j) {
      return a.scale() * dot(q, query, k, a.head(b, j, h, a.keys), a.K);
    };
    double largest = kNothing, sum = 0;
    for (Size j = 0; j < a.keys && a.sees(i, j); ++j) largest = std::max(largest, score(j));
    for (Size j = 0; j < a.keys && a.sees(i, j); ++j) sum += std::exp(score(j) - largest);
    if (sum == 0) return;
    result.log_sum_exp[row] = largest + std::log(sum);
    for (Size j = 0; j < a.keys && a.sees(i, j); ++j) {
      const double p = std::exp(score(j) - largest) / sum;
      result.probabilities[row * at(a.keys) + at(j)] = p;
      add_to(result.o, query, p, v, a.head(b, j, h, a.keys), a.K);
    }
  });
  return result;
}

struct AttentionGradients {
  Values d_q, d_k, d_v;
};

// The softmax's own gradient, d_score_j = p_j (d_p_j - sum over m of p_m d_p_m), with all keys of
// the row there.
inline AttentionGradients attention_backward(const AttentionCase& a, const Values& q,
                                             const Values& k, const Values& v, const Values& d_o) {
  const Values probabilities = attention(a, q, k, v).probabilities;
  AttentionGradients result{zeros(a.B * a.queries * a.D()), zeros(a.B * a.keys * a.D()),
                            zeros(a.B * a.keys * a.D())};
  each_row(a, [&](Size b, Size h, Size i) {
    const std::size_t query = a.head(b, i, h, a.queries), row = a.row(b, h, i);
    Values d_p = zeros(a.keys);
    double mean = 0;
    for (Size j = 0; j < a.keys; ++j) {
      d_p[at(j)] = dot(d_o, query, v, a.head(b, j, h, a.keys), a.K);
      mean += probabilities[row * at(a.keys) + at(j)] * d_p[at(j)];
    }
    for (Size j = 0; j < a.keys; ++j) {
      const std::size_t key = a.head(b, j, h, a.keys);
      const double p = probabilities[row * at(a.keys) + at(j)];
      const double d_score = p * (d_p[at(j)] - mean) * a.scale();
      add_to(result.d_v, key, p, d_o, query, a.K);
      add_to(result.d_q, query, d_score, k, key, a.K);
      add_to(result.d_k, key, d_score, q, query, a.K);
    }
  });
  return result;
}

// ---- the optimizer ------------------------------------------------------------------------------

struct AdamW {
  Values w, m, v;
};

inline AdamW adamw(AdamW state, const Values& g, double learning_rate, double beta1, double beta2,
                   double epsilon, double decay, double step) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    double &w = state.w[i], &m = state.m[i], &v = state.v[i];
    m = beta1 * m + (1 - beta1) * g[i];
    v = beta2 * v + (1 - beta2) * g[i] * g[i];
    const double m_hat = m / (1 - std::pow(beta1, step)), v_hat = v / (1 - std::pow(beta2, step));
    w -= learning_rate * (m_hat / (std::sqrt(v_hat) + epsilon) + decay * w);
  }
  return state;
}

}  // namespace shardlings::reference
