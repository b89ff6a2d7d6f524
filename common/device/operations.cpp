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

}  // namespace shardlings
