#include "device/operations.h"

#include <algorithm>

namespace shardlings {

namespace {

// Products of two K-vectors (or updates by one) per (query, key) pair: q k^T and p v forward; p^T
// d_o, d_o v^T, ds k and ds^T q backward; and q k^T once more where the scores were not kept.
constexpr std::int64_t kForwardProducts = 2;
constexpr std::int64_t kBackwardProducts = 4;

Work attention_work(const AttentionSizes& sizes, std::int64_t products, bool recomputes_scores) {
  const std::int64_t flops_per_pair = 2 * sizes.K * sizes.H * sizes.B;
  const std::int64_t all_pairs = sizes.query_tokens * sizes.key_tokens;
  return {
      .model_flops = products * all_pairs * flops_per_pair,
      .executed_flops = (products + recomputes_scores) * sizes.visible_pairs() * flops_per_pair};
}

Work work(const Matmul& op) {
  const std::int64_t inner = op.transpose_a ? op.a.rows : op.a.columns;
  const std::int64_t flops = 2 * op.c.rows * op.c.columns * inner;
  return {.model_flops = flops, .executed_flops = flops};
}

Work work(const AttentionForward& op) {
  return attention_work(op.sizes, kForwardProducts, false);
}

Work work(const AttentionBackward& op) {
  return attention_work(op.sizes, kBackwardProducts, op.probabilities == nullptr);
}

template <class Other>
Work work(const Other&) {
  return {};
}

// Elements that an operation reads and writes. Where several are named they are, in this order,
// what it writes and what it reads.

std::int64_t elements(const MatrixRef& m) {
  return m.rows * m.columns;
}

std::int64_t moved(const Matmul& op) {
  const std::int64_t in = elements(op.a) + elements(op.b) + (op.bias ? op.c.columns : 0);
  return elements(op.c) * (op.accumulate ? 2 : 1) * bytes_per_element(op.c_dtype) +
         in * bytes_per_element(op.dtype);
}

std::int64_t moved(const Cast& op) {
  return op.count * (bytes_per_element(op.y_dtype) + bytes_per_element(op.x_dtype));
}

std::int64_t moved_elements(const ColumnSum& op) {
  return op.x.columns * (op.accumulate ? 2 : 1) + elements(op.x);
}
std::int64_t moved_elements(const Fill& op) {
  return op.count;
}
std::int64_t moved_elements(const Scale& op) {
  return 2 * op.count;
}
std::int64_t moved_elements(const Add& op) {
  return 3 * op.count;
}
std::int64_t moved_elements(const Maximum& op) {
  return 3 * op.count;
}
std::int64_t moved_elements(const AddScaled& op) {
  return 3 * op.count;
}
std::int64_t moved_elements(const Sum& op) {
  return op.count;
}
std::int64_t moved_elements(const GeluForward& op) {
  return 2 * op.count;
}
std::int64_t moved_elements(const GeluBackward& op) {
  return 3 * op.count;
}
std::int64_t moved_elements(const LayerNormForward& op) {
  return (op.rows * op.D + 2 * op.rows) + (op.rows * op.D + 2 * op.D);
}
std::int64_t moved_elements(const LayerNormBackward& op) {
  return (op.rows * op.D + 2 * op.D) +
         (2 * op.rows * op.D + 2 * op.rows + (op.accumulate ? 3 : 1) * op.D);
}
std::int64_t moved_elements(const EmbeddingForward& op) {
  return op.rows * op.D + 2 * op.rows * op.D;
}
std::int64_t moved_elements(const ScatterAddRows& op) {
  return op.rows * op.D + 2 * op.rows * op.D;
}
std::int64_t moved_elements(const CrossEntropyForward& op) {
  return 2 * op.rows + (op.rows * op.V + op.rows);
}
std::int64_t moved_elements(const CrossEntropyBackward& op) {
  return op.rows * op.V + (op.rows * op.V + 2 * op.rows);
}
std::int64_t moved_elements(const AdamW& op) {
  return 3 * op.count + 4 * op.count;
}

std::int64_t probabilities(const AttentionSizes& s) {
  return s.B * s.H * s.query_tokens * s.key_tokens;
}
std::int64_t moved_elements(const AttentionForward& op) {
  const AttentionSizes& s = op.sizes;
  const std::int64_t token = s.B * s.H * s.K;
  return (token * s.query_tokens + s.B * s.H * s.query_tokens +
          (op.probabilities ? probabilities(s) : 0)) +
         (token * s.query_tokens + 2 * token * s.key_tokens);
}
std::int64_t moved_elements(const AttentionBackward& op) {
  const AttentionSizes& s = op.sizes;
  const std::int64_t token = s.B * s.H * s.K;
  return (token * s.query_tokens + 2 * token * s.key_tokens) +
         (3 * token * s.query_tokens + 2 * token * s.key_tokens + s.B * s.H * s.query_tokens +
          (op.probabilities ? probabilities(s) : 0));
}

template <class Other>
std::int64_t moved(const Other& op) {
  return moved_elements(op) * bytes_per_element(op.dtype);
}

}  // namespace

std::int64_t AttentionSizes::visible_pairs() const {
  // Query i sees the keys 0 ... query_offset + i - key_offset.
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < query_tokens; ++i)
    pairs += std::clamp<std::int64_t>(query_offset + i - key_offset + 1, 0, key_tokens);
  return pairs;
}

Work work_of(const Operation& operation) {
  return std::visit([](const auto& op) { return work(op); }, operation);
}

std::int64_t moved_bytes_of(const Operation& operation) {
  return std::visit([](const auto& op) { return moved(op); }, operation);
}

}  // namespace shardlings
