#include <Eigen/Core>
#include <cmath>

#include "device/cpu/cpu_parallel.h"
#include "device/math.h"

namespace shardlings {

namespace {

constexpr std::int64_t kQueryTile = 64;
constexpr std::int64_t kKeyTile = 256;

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Matrix = Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>>;

// tokens x K: head h of sequence b.
template <class T>
Matrix<T> head_of(const TokensRef& x, std::int64_t tokens, std::int64_t K, std::int64_t b,
                  std::int64_t h, const Cpu& cpu) {
  return {cpu.at<T>(x.data) + b * tokens * x.stride + h * K, tokens, K,
          Eigen::OuterStride<>(x.stride)};
}

// Where the scores of one tile are kept: in a scratch tile, or in their place in `probabilities`.
template <class T>
Matrix<T> scores_of(T* scratch, T* probabilities, const AttentionSizes& sizes, std::int64_t first,
                    std::int64_t queries, std::int64_t key, std::int64_t keys) {
  if (probabilities == nullptr) return {scratch, queries, keys, Eigen::OuterStride<>(keys)};
  return {probabilities + first * sizes.key_tokens + key, queries, keys,
          Eigen::OuterStride<>(sizes.key_tokens)};
}

template <class T>
T* probabilities_of(const void* probabilities, const AttentionSizes& sizes, std::int64_t task,
                    const Cpu& cpu) {
  T* all = const_cast<T*>(cpu.at<T>(probabilities));
  return all == nullptr ? nullptr : all + task * sizes.query_tokens * sizes.key_tokens;
}

// Per-thread memory that outlives the call, so that tiles are allocated once.
template <class T>
T* scratch_tile(int which) {
  thread_local std::array<RowMajor<T>, 2> tiles;
  auto& tile = tiles[static_cast<std::size_t>(which)];
  tile.resize(kQueryTile, kKeyTile);
  return tile.data();
}

// How many of the keys from `key` on query `i` may see.
std::int64_t visible(const AttentionSizes& sizes, std::int64_t i, std::int64_t key,
                     std::int64_t keys) {
  return std::clamp<std::int64_t>(sizes.query_offset + i - sizes.key_offset - key + 1, 0, keys);
}

template <class T>
void attention_forward(const AttentionForward& op, const Cpu& cpu) {
  const AttentionSizes& sizes = op.sizes;
  const T scale = static_cast<T>(sizes.scale);
  const CpuRow row;
  // One task per (sequence, head).
  parallel_for(cpu, sizes.B * sizes.H, [&](std::int64_t task) {
    const std::int64_t b = task / sizes.H, h = task % sizes.H;
    auto o = head_of<T>(op.o, sizes.query_tokens, sizes.K, b, h, cpu);
    const auto q = head_of<T>(op.q, sizes.query_tokens, sizes.K, b, h, cpu);
    const auto k = head_of<T>(op.k, sizes.key_tokens, sizes.K, b, h, cpu);
    const auto v = head_of<T>(op.v, sizes.key_tokens, sizes.K, b, h, cpu);
    T* log_sum_exp = cpu.at<T>(op.log_sum_exp) + task * sizes.query_tokens;
    T* kept = probabilities_of<T>(op.probabilities, sizes, task, cpu);
    // Kept probabilities need the row's final maximum, hence the whole row as one tile.
    const std::int64_t key_tile = kept ? std::max<std::int64_t>(1, sizes.key_tokens) : kKeyTile;

    for (std::int64_t first = 0; first < sizes.query_tokens; first += kQueryTile) {
      const std::int64_t queries = std::min(kQueryTile, sizes.query_tokens - first);
      std::array<T, kQueryTile> maximum, sum;
      maximum.fill(-std::numeric_limits<T>::infinity());
      sum.fill(0);
      o.middleRows(first, queries).setZero();
      for (std::int64_t key = 0; key < sizes.key_tokens; key += key_tile) {
        const std::int64_t keys = kept ? sizes.key_tokens
                                       : visible(sizes, first + queries - 1, key,
                                                 std::min(key_tile, sizes.key_tokens - key));
        if (keys == 0) break;
        auto s = scores_of<T>(scratch_tile<T>(0), kept, sizes, first, queries, key, keys);
        s.noalias() = q.middleRows(first, queries) * k.middleRows(key, keys).transpose();
        for (std::int64_t i = 0; i < queries; ++i) {
          T* p = s.row(i).data();
          const std::int64_t n = visible(sizes, first + i, key, keys);
          std::fill(p + n, p + keys, T{0});
          if (n == 0) continue;
          const T old = maximum[i];
          const T now = std::max(old, scale * row.max(n, [=](std::int64_t j) { return p[j]; }));
          row.each(n, [=](std::int64_t j) { p[j] = fast_exp(scale * p[j] - now); });
          const T shrink = fast_exp(old - now);
          sum[i] = sum[i] * shrink + row.sum(n, [=](std::int64_t j) { return p[j]; });
          maximum[i] = now;
          if (key > 0) o.row(first + i) *= shrink;
        }
        o.middleRows(first, queries).noalias() += s * v.middleRows(key, keys);
      }
      for (std::int64_t i = 0; i < queries; ++i) {
        log_sum_exp[first + i] = maximum[i] + std::log(sum[i]);
        if (sum[i] == 0) continue;
        o.row(first + i) /= sum[i];
        if (kept)
          Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>(kept + (first + i) * sizes.key_tokens,
                                                         sizes.key_tokens) /= sum[i];
      }
    }
  });
}

// With P the probabilities, per head (Dao et al. 2022, section 3.1 and appendix B):
//   dV = P^T dO,  dP = dO V^T,  dS = P o (dP - rowsum(dO o O)),
//   dQ = scale dS K,  dK = scale dS^T Q.
template <class T>
void attention_backward(const AttentionBackward& op, const Cpu& cpu) {
  const AttentionSizes& sizes = op.sizes;
  const T scale = static_cast<T>(sizes.scale);
  const CpuRow row;
  parallel_for(cpu, sizes.B * sizes.H, [&](std::int64_t task) {
    const std::int64_t b = task / sizes.H, h = task % sizes.H;
    const auto of_query = [&](const TokensRef& x) {
      return head_of<T>(x, sizes.query_tokens, sizes.K, b, h, cpu);
    };
    const auto of_key = [&](const TokensRef& x) {
      return head_of<T>(x, sizes.key_tokens, sizes.K, b, h, cpu);
    };
    auto d_q = of_query(op.d_q), d_k = of_key(op.d_k), d_v = of_key(op.d_v);
    const auto q = of_query(op.q), o = of_query(op.o), d_o = of_query(op.d_o);
    const auto k = of_key(op.k), v = of_key(op.v);
    const T* log_sum_exp = cpu.at<T>(op.log_sum_exp) + task * sizes.query_tokens;
    T* kept = probabilities_of<T>(op.probabilities, sizes, task, cpu);

    d_q.setZero();
    d_k.setZero();
    d_v.setZero();
    for (std::int64_t first = 0; first < sizes.query_tokens; first += kQueryTile) {
      const std::int64_t queries = std::min(kQueryTile, sizes.query_tokens - first);
      const auto q_tile = q.middleRows(first, queries), d_o_tile = d_o.middleRows(first, queries);
      for (std::int64_t key = 0; key < sizes.key_tokens; key += kKeyTile) {
        const std::int64_t keys =
            visible(sizes, first + queries - 1, key, std::min(kKeyTile, sizes.key_tokens - key));
        if (keys == 0) break;
        const auto k_tile = k.middleRows(key, keys), v_tile = v.middleRows(key, keys);
        auto p = scores_of<T>(scratch_tile<T>(0), kept, sizes, first, queries, key, keys);
        Matrix<T> d_s(scratch_tile<T>(1), queries, keys, Eigen::OuterStride<>(keys));
        if (!kept) p.noalias() = q_tile * k_tile.transpose();
        d_s.noalias() = d_o_tile * v_tile.transpose();
        for (std::int64_t i = 0; i < queries; ++i) {
          T *p_row = p.row(i).data(), *d_s_row = d_s.row(i).data();
          const std::int64_t n = visible(sizes, first + i, key, keys);
          const T total = log_sum_exp[first + i];
          if (!kept)
            row.each(n, [=](std::int64_t j) { p_row[j] = fast_exp(scale * p_row[j] - total); });
          std::fill(p_row + n, p_row + keys, T{0});
          const T dot = o.row(first + i).dot(d_o.row(first + i));
          row.each(n, [=](std::int64_t j) { d_s_row[j] = p_row[j] * (d_s_row[j] - dot) * scale; });
          std::fill(d_s_row + n, d_s_row + keys, T{0});
        }
        d_v.middleRows(key, keys).noalias() += p.transpose() * d_o_tile;
        d_q.middleRows(first, queries).noalias() += d_s * k_tile;
        d_k.middleRows(key, keys).noalias() += d_s.transpose() * q_tile;
      }
    }
  });
}

}  // namespace

void run(const AttentionForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) { attention_forward<T>(op, cpu); });
}

void run(const AttentionBackward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) { attention_backward<T>(op, cpu); });
}

}  // namespace shardlings
