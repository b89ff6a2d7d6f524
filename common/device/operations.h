// The complete list of what a device must be able to do, as data.
//
// An operation is a plain struct: the addresses of its operands on the device, and their sizes.
// Outputs come first. A device runs it (CPU), queues it (guarded) or launches it (CUDA); nobody
// else looks inside. Adding a kernel to the course means: a struct here, its work in
// operations.cpp, one implementation per device.
//
// All operands of an operation have its `dtype` unless a comment says otherwise. Addresses of
// optional operands may be null. Letters: B sequences, T tokens, D width, H heads, K head width, V
// vocabulary.
#pragma once

#include <cstdint>
#include <variant>

#include "device/dtype.h"
#include "ledger/work_ledger.h"

namespace shardlings {

// rows x columns elements; rows lie `stride` elements apart.
struct MatrixRef {
  void* data = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;
};

// c = op(a) op(b) + bias, or c += op(a) op(b). bias (one value per column) may be null. Products of
// bf16 are added up in f32, and rounded once if c is bf16.
struct Matmul {
  DType dtype;    // f32, f64 or bf16
  DType c_dtype;  // the same, or f32 out of bf16
  MatrixRef c, a, b;
  const void* bias = nullptr;
  bool transpose_a = false, transpose_b = false;  // Requires: at most one
  bool accumulate = false;                        // Requires: no bias
};

// sum[c] = sum over rows r of x[r, c], or += it.
struct ColumnSum {
  DType dtype;
  void* sum;
  MatrixRef x;
  bool accumulate = false;
};

// y[i] = value
struct Fill {
  DType dtype;
  void* y;
  double value;
  std::int64_t count;
};

// y[i] = x[i], rounded to the nearest value of y's dtype, ties to even.
struct Cast {
  DType y_dtype, x_dtype;  // f32, f64 or bf16
  void* y;
  const void* x;
  std::int64_t count;
};

// y[i] *= factor
struct Scale {
  DType dtype;
  void* y;
  double factor;
  std::int64_t count;
};

// z[i] = x[i] + y[i]
struct Add {
  DType dtype;
  void* z;
  const void *x, *y;
  std::int64_t count;
};

// z[i] = max(x[i], y[i]); NaN where one of them is
struct Maximum {
  DType dtype;
  void* z;
  const void *x, *y;
  std::int64_t count;
};

// y[i] += factor * x[i]
struct AddScaled {
  DType dtype;
  void* y;
  const void* x;
  double factor;
  std::int64_t count;
};

// *sum = sum of x[i], or of its squares, added up in double in an order that depends on `count`
// alone. `sum` is one double on the device.
struct Sum {
  DType dtype;
  double* sum;
  const void* x;
  std::int64_t count;
  bool squares = false;
};

// y = GELU(x), tanh form (Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2).
struct GeluForward {
  DType dtype;
  void* y;
  const void* x;
  std::int64_t count;
};

struct GeluBackward {
  DType dtype;
  void* d_x;
  const void *x, *d_y;
  std::int64_t count;
};

// y[r] = (x[r] - mean_r) / sqrt(variance_r + epsilon) * weight + bias (Ba et al. 2016,
// arXiv:1607.06450). Leaves mean and 1/sqrt(variance + epsilon) per row for backward.
struct LayerNormForward {
  DType dtype;
  void *y, *mean, *inverse_deviation;
  const void *x, *weight, *bias;
  std::int64_t rows, D;
  double epsilon;
};

struct LayerNormBackward {
  DType dtype;
  void *d_x, *d_weight, *d_bias;
  const void *x, *mean, *inverse_deviation, *weight, *d_y;
  std::int64_t rows, D;
  bool accumulate = false;  // d_weight and d_bias are added to; d_x is always written
};

// x[r] = token_table[token[r]] + position_table[position[r]]
struct EmbeddingForward {
  DType dtype;
  void* x;
  const void *token_table, *position_table;
  const std::int32_t *token, *position;
  std::int64_t rows, D;
};

// d_table[index[r]] += d_x[r], rows in order.
struct ScatterAddRows {
  DType dtype;
  void* d_table;
  const void* d_x;
  const std::int32_t* index;
  std::int64_t rows, D;
};

// Per row r of the logits: log_sum_exp[r] = log(sum over v of exp(logit[r, v])) and
// loss[r] = weight[r] * (log_sum_exp[r] - logit[r, target[r]]). A row of weight 0 has loss 0.
struct CrossEntropyForward {
  DType dtype;
  void *loss, *log_sum_exp;
  const void* logits;
  const std::int32_t* target;
  const void* weight;
  std::int64_t rows, V;
};

// Turns the logits into their gradient, in place:
// d_logit[r, v] = scale * weight[r] * (exp(logit[r, v] - log_sum_exp[r]) - (v == target[r])).
struct CrossEntropyBackward {
  DType dtype;
  void* logits;
  const void* log_sum_exp;
  const std::int32_t* target;
  const void* weight;
  double scale;
  std::int64_t rows, V;
};

// Where attention finds its tokens. Query i of a sequence stands at global position
// query_offset + i, key j at key_offset + j; a query sees the keys at its own position and before
// it. Token i of sequence b starts at data + (b * tokens + i) * stride; its head h begins at column
// h * K.
struct AttentionSizes {
  std::int64_t B, query_tokens, key_tokens, H, K;
  std::int64_t query_offset = 0, key_offset = 0;
  double scale;  // 1 / sqrt(K)

  // (query, key) pairs that the causal mask leaves, per sequence and head.
  std::int64_t visible_pairs() const;
};

struct TokensRef {
  void* data = nullptr;
  std::int64_t stride = 0;  // elements from one token to the next
};

// o = softmax(scale * q k^T) v per head, causal, and the log-sum-exp of each row's scores
// (B x H x query_tokens). A query that sees no key gets o = 0 and log-sum-exp -infinity.
//
// Scores live in tiles (Dao 2023, FlashAttention-2, arXiv:2307.08691, algorithm 1) and are
// recomputed in backward, unless `probabilities` (B x H x query_tokens x key_tokens) is there to
// keep them.
struct AttentionForward {
  DType dtype;
  AttentionSizes sizes;
  TokensRef o;
  void* log_sum_exp;
  void* probabilities = nullptr;
  TokensRef q, k, v;
};

// Writes d_q, d_k and d_v. Reads the log-sum-exp and o of the whole row, so that it also serves a
// block of keys of a longer sequence.
struct AttentionBackward {
  DType dtype;
  AttentionSizes sizes;
  TokensRef d_q, d_k, d_v;
  TokensRef q, k, v, o, d_o;
  const void* log_sum_exp;
  const void* probabilities = nullptr;
};

// AdamW with decoupled decay (Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2, whose lambda
// is our learning_rate * decay, as in PyTorch):
//   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
//   w -= learning_rate * (m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + epsilon) + decay w)
struct AdamW {
  DType dtype;
  void *w, *m, *v;
  const void* g;
  std::int64_t count;
  double learning_rate, beta1, beta2, epsilon, decay;
  std::int64_t step;  // 1 for the first
};

using Operation = std::variant<Matmul, ColumnSum, Fill, Cast, Scale, Add, Maximum, AddScaled, Sum,
                               GeluForward, GeluBackward, LayerNormForward, LayerNormBackward,
                               EmbeddingForward, ScatterAddRows, CrossEntropyForward,
                               CrossEntropyBackward, AttentionForward, AttentionBackward, AdamW>;

// The products an operation carries out; nothing for element-wise and row-wise ones.
Work work_of(const Operation& operation);

// The bytes it reads and writes, each operand once: the least that has to cross the memory's wires.
std::int64_t moved_bytes_of(const Operation& operation);

}  // namespace shardlings
