// Element-wise and row-wise kernels, written once for every device.
//
// Three shapes. A device calls a kernel's operator() with
//   element kernels   (i)        for every i, in any order;
//   row kernels       (r, row)   for every row, in any order; `row` offers each(n, f): f(i) for
//                                all i; sum(n, f) and max(n, f) over f(i), in an order that depends
//                                on n alone;
//   column kernels    (r, c)     for every column c in any order, the rows of a column in order.
// So no result depends on the number of threads.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/math.h"
#include "device/operations.h"

namespace shardlings {

// ---- element kernels ----

template <class T>
struct FillKernel {
  T* y;
  T value;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { y[i] = value; }
};

template <class To, class From>
struct CastKernel {
  To* y;
  const From* x;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { y[i] = static_cast<To>(x[i]); }
};

template <class T>
struct ScaleKernel {
  T* y;
  T factor;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { y[i] *= factor; }
};

template <class T>
struct AddKernel {
  T* z;
  const T *x, *y;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { z[i] = x[i] + y[i]; }
};

template <class T>
struct MaximumKernel {
  T* z;
  const T *x, *y;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    z[i] = x[i] > y[i] || x[i] != x[i] ? x[i] : y[i];
  }
};

template <class T>
struct AddScaledKernel {
  T* y;
  const T* x;
  T factor;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { y[i] += factor * x[i]; }
};

// GELU(x) = x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3). Since (1 + tanh(u))/2 is
// sigmoid(2u), it needs no tanh and loses no digits near 0.
template <class T>
struct Gelu {
  static constexpr T kTwiceRoot = static_cast<T>(1.5957691216057308);  // 2 sqrt(2/pi)
  static constexpr T kCubic = static_cast<T>(0.044715);

  SHARDLINGS_KERNEL static T value(T x) {
    return x * sigmoid(kTwiceRoot * (x + kCubic * x * x * x));
  }
  SHARDLINGS_KERNEL static T derivative(T x) {
    const T gate = sigmoid(kTwiceRoot * (x + kCubic * x * x * x));
    return gate + x * gate * (1 - gate) * kTwiceRoot * (1 + 3 * kCubic * x * x);
  }
};

template <class T>
struct GeluForwardKernel {
  T* y;
  const T* x;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const { y[i] = Gelu<T>::value(x[i]); }
};

template <class T>
struct GeluBackwardKernel {
  T* d_x;
  const T *x, *d_y;
  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    d_x[i] = d_y[i] * Gelu<T>::derivative(x[i]);
  }
};

template <class T>
struct AdamWKernel {
  T *w, *m, *v;
  const T* g;
  T learning_rate, beta1, beta2, rest1, rest2, epsilon, decay, correction1, correction2;

  AdamWKernel(const AdamW& op)
      : w(static_cast<T*>(op.w)),
        m(static_cast<T*>(op.m)),
        v(static_cast<T*>(op.v)),
        g(static_cast<const T*>(op.g)),
        learning_rate(static_cast<T>(op.learning_rate)),
        beta1(static_cast<T>(op.beta1)),
        beta2(static_cast<T>(op.beta2)),
        rest1(static_cast<T>(1 - op.beta1)),  // in double: in f32, 1 - 0.999 is off by 1.3e-5
        rest2(static_cast<T>(1 - op.beta2)),
        epsilon(static_cast<T>(op.epsilon)),
        decay(static_cast<T>(op.decay)),
        correction1(static_cast<T>(1 / (1 - std::pow(op.beta1, op.step)))),
        correction2(static_cast<T>(1 / (1 - std::pow(op.beta2, op.step)))) {}

  SHARDLINGS_KERNEL void operator()(std::int64_t i) const {
    m[i] = beta1 * m[i] + rest1 * g[i];
    v[i] = beta2 * v[i] + rest2 * g[i] * g[i];
    const T update = m[i] * correction1 / (std::sqrt(v[i] * correction2) + epsilon);
    w[i] -= learning_rate * (update + decay * w[i]);
  }
};

// ---- row kernels ----

template <class T>
struct LayerNormForwardKernel {
  T *y, *mean, *inverse_deviation;
  const T *x, *weight, *bias;
  std::int64_t D;
  T epsilon;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const T* in = x + r * D;
    T* out = y + r * D;
    const T width = static_cast<T>(D);
    const T m = row.sum(D, [=](std::int64_t i) { return in[i]; }) / width;
    const T variance =
        row.sum(D, [=](std::int64_t i) { return (in[i] - m) * (in[i] - m); }) / width;
    const T s = 1 / std::sqrt(variance + epsilon);
    mean[r] = m;
    inverse_deviation[r] = s;
    const T *w = weight, *b = bias;
    row.each(D, [=](std::int64_t i) { out[i] = (in[i] - m) * s * w[i] + b[i]; });
  }
};

// With h = (x - mean) s the normalised row and g = d_y weight:
//   d_x = s (g - mean(g) - h mean(g h)).
template <class T>
struct LayerNormBackwardKernel {
  T* d_x;
  const T *x, *mean, *inverse_deviation, *weight, *d_y;
  std::int64_t D;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const T *in = x + r * D, *d_out = d_y + r * D, *w = weight;
    T* d_in = d_x + r * D;
    const T m = mean[r], s = inverse_deviation[r], width = static_cast<T>(D);
    const T mean_g = row.sum(D, [=](std::int64_t i) { return d_out[i] * w[i]; }) / width;
    const T mean_gh =
        row.sum(D, [=](std::int64_t i) { return d_out[i] * w[i] * (in[i] - m) * s; }) / width;
    row.each(D, [=](std::int64_t i) {
      d_in[i] = s * (d_out[i] * w[i] - mean_g - (in[i] - m) * s * mean_gh);
    });
  }
};

template <class T>
struct EmbeddingForwardKernel {
  T* x;
  const T *token_table, *position_table;
  const std::int32_t *token, *position;
  std::int64_t D;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const T *of_token = token_table + token[r] * D, *of_position = position_table + position[r] * D;
    T* out = x + r * D;
    row.each(D, [=](std::int64_t i) { out[i] = of_token[i] + of_position[i]; });
  }
};

// Block by block, so that a row comes from memory once: a sum of exponentials relative to the
// largest logit so far is scaled when a larger one comes. (From the lowest finite value, so that a
// block of -infinity, as a mask leaves it, adds 0 and not NaN.)
template <class T>
struct CrossEntropyForwardKernel {
  static constexpr std::int64_t kBlock = 1024;
  T *loss, *log_sum_exp;
  const T* logits;
  const std::int32_t* target;
  const T* weight;
  std::int64_t V;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const T* logit = logits + r * V;
    T largest = std::numeric_limits<T>::lowest(), sum = 0;
    for (std::int64_t begin = 0; begin < V; begin += kBlock) {
      const T* block = logit + begin;
      const std::int64_t count = V - begin < kBlock ? V - begin : kBlock;
      const T in_block = row.max(count, [=](std::int64_t v) { return block[v]; });
      const T larger = in_block > largest ? in_block : largest;
      sum = sum * fast_exp(largest - larger) +
            row.sum(count, [=](std::int64_t v) { return fast_exp(block[v] - larger); });
      largest = larger;
    }
    log_sum_exp[r] = largest + std::log(sum);
    loss[r] = weight[r] == 0 ? T{0} : weight[r] * (log_sum_exp[r] - logit[target[r]]);
  }
};

template <class T>
struct CrossEntropyBackwardKernel {
  T* logits;
  const T* log_sum_exp;
  const std::int32_t* target;
  const T* weight;
  T scale;
  std::int64_t V;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    T* logit = logits + r * V;
    const T factor = scale * weight[r], total = log_sum_exp[r];
    const std::int32_t right = target[r];
    row.each(V, [=](std::int64_t v) {
      logit[v] = factor * (fast_exp(logit[v] - total) - static_cast<T>(v == right));
    });
  }
};

// ---- column kernels ----

template <class T>
struct ColumnSumKernel {
  T* sum;
  const T* x;
  std::int64_t stride;
  SHARDLINGS_KERNEL void operator()(std::int64_t r, std::int64_t c) const {
    sum[c] += x[r * stride + c];
  }
};

template <class T>
struct LayerNormWeightGradientKernel {
  T *d_weight, *d_bias;
  const T *x, *mean, *inverse_deviation, *d_y;
  std::int64_t D;
  SHARDLINGS_KERNEL void operator()(std::int64_t r, std::int64_t c) const {
    const T g = d_y[r * D + c];
    d_weight[c] += g * (x[r * D + c] - mean[r]) * inverse_deviation[r];
    d_bias[c] += g;
  }
};

template <class T>
struct ScatterAddRowsKernel {
  T* d_table;
  const T* d_x;
  const std::int32_t* index;
  std::int64_t D;
  SHARDLINGS_KERNEL void operator()(std::int64_t r, std::int64_t c) const {
    d_table[index[r] * D + c] += d_x[r * D + c];
  }
};

}  // namespace shardlings
