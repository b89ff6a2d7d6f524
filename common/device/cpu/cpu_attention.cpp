#include <array>
#include <cmath>
#include <vector>

#include "device/cpu/cpu_parallel.h"
#include "device/cpu/product.h"
#include "device/math.h"

namespace shardlings {

namespace {

constexpr std::int64_t kQueryTile = 48;  // larger ones compute more of what the mask hides
constexpr std::int64_t kKeyTile = 256;
constexpr CpuRow kRow;

// tokens x K: head h of sequence b.
template <class T>
Block<T> head_of(const TokensRef& x, std::int64_t tokens, std::int64_t K, std::int64_t b,
                 std::int64_t h, const Cpu& cpu) {
  return {cpu.at<T>(x.data) + b * tokens * x.stride + h * K, tokens, K, x.stride};
}

// queries x keys scores of one tile: scratch, or their place in the kept probabilities of a head.
template <class T>
Block<T> scores_of(T* scratch, T* kept, const AttentionSizes& sizes, std::int64_t query,
                   std::int64_t queries, std::int64_t key, std::int64_t keys) {
  if (kept == nullptr) return {scratch, queries, keys, keys};
  return {kept + query * sizes.key_tokens + key, queries, keys, sizes.key_tokens};
}

template <class T>
T* kept_of(const void* probabilities, const AttentionSizes& sizes, std::int64_t task,
           const Cpu& cpu) {
  T* all = const_cast<T*>(cpu.at<T>(probabilities));
  return all == nullptr ? nullptr : all + task * sizes.query_tokens * sizes.key_tokens;
}

// Per-thread memory that outlives the call, so that tiles are allocated once.
template <class T>
T* scratch_tile(std::size_t which) {
  thread_local std::array<std::vector<T>, 2> tiles;
  tiles[which].resize(kQueryTile * kKeyTile);
  return tiles[which].data();
}

// How many of the `keys` keys from `key` on query `i` may see.
std::int64_t visible(const AttentionSizes& sizes, std::int64_t i, std::int64_t key,
                     std::int64_t keys) {
  return std::clamp<std::int64_t>(sizes.query_offset + i - sizes.key_offset - key + 1, 0, keys);
}

template <class T>
void set_zero(const Block<T>& block) {
  for (std::int64_t r = 0; r < block.rows; ++r) std::fill_n(block.row(r), block.columns, T{0});
}

template <class T>
void multiply_row(T* row, std::int64_t n, T factor) {
  kRow.each(n, [=](std::int64_t i) { row[i] *= factor; });
}

// Hides what queries may not see, so that all rows of a tile are equally long: whole vectors, no
// remainders. (A pass of its own: a vector that has just been stored in parts is slow to load.)
template <class T>
void mask(const Block<T>& scores, const AttentionSizes& sizes, std::int64_t query,
          std::int64_t key) {
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const std::int64_t n = visible(sizes, query + i, key, scores.columns);
    std::fill(scores.row(i) + n, scores.row(i) + scores.columns,
              -std::numeric_limits<T>::infinity());
  }
}

// What to subtract from scores before exp: their maximum or log-sum-exp, but 0 where a query has
// seen no key yet, so that its hidden scores become 0, not NaN.
template <class T>
T finite(T x) {
  return x == -std::numeric_limits<T>::infinity() ? T{0} : x;
}

// One row of scores becomes exp(score - maximum), with the running maximum and sum of all tiles of
// the row so far. Returns the factor that what was added up before must be multiplied with (Milakov
// & Gimelshein 2018, arXiv:1805.02867).
template <class T>
T online_softmax(T* p, std::int64_t n, T scale, T& maximum, T& sum) {
  const T old = maximum;
  maximum = std::max(old, scale * kRow.max(n, [=](std::int64_t j) { return p[j]; }));
  const T now = finite(maximum);
  kRow.each(n, [=](std::int64_t j) { p[j] = fast_exp(scale * p[j] - now); });
  const T shrink = fast_exp(old - now);
  sum = sum * shrink + kRow.sum(n, [=](std::int64_t j) { return p[j]; });
  return shrink;
}

template <class T>
void forward_of_head(const AttentionForward& op, const Cpu& cpu, std::int64_t task) {
  const AttentionSizes& sizes = op.sizes;
  const std::int64_t b = task / sizes.H, h = task % sizes.H, K = sizes.K;
  const T scale = static_cast<T>(sizes.scale);
  const Block<T> o = head_of<T>(op.o, sizes.query_tokens, K, b, h, cpu);
  const Block<T> q = head_of<T>(op.q, sizes.query_tokens, K, b, h, cpu);
  const Block<T> k = head_of<T>(op.k, sizes.key_tokens, K, b, h, cpu);
  const Block<T> v = head_of<T>(op.v, sizes.key_tokens, K, b, h, cpu);
  T* log_sum_exp = cpu.at<T>(op.log_sum_exp) + task * sizes.query_tokens;
  T* kept = kept_of<T>(op.probabilities, sizes, task, cpu);
  // Kept probabilities need the row's final maximum, hence the whole row as one tile.
  const std::int64_t key_tile = kept ? std::max<std::int64_t>(1, sizes.key_tokens) : kKeyTile;

  for (std::int64_t query = 0; query < sizes.query_tokens; query += kQueryTile) {
    const std::int64_t queries = std::min(kQueryTile, sizes.query_tokens - query);
    const Block<T> o_tile = o.rows_from(query, queries), q_tile = q.rows_from(query, queries);
    std::array<T, kQueryTile> maximum, sum;
    maximum.fill(-std::numeric_limits<T>::infinity());
    sum.fill(0);
    set_zero(o_tile);
    if (kept) set_zero(scores_of<T>(nullptr, kept, sizes, query, queries, 0, sizes.key_tokens));
    for (std::int64_t key = 0; key < sizes.key_tokens; key += key_tile) {
      const std::int64_t left = std::min(key_tile, sizes.key_tokens - key);
      const std::int64_t keys = visible(sizes, query + queries - 1, key, left);
      if (keys == 0) break;
      const Block<T> p = scores_of<T>(scratch_tile<T>(0), kept, sizes, query, queries, key, keys);
      set_zero(p);
      multiply_add(p, q_tile, k.rows_from(key, keys), Transposed::b);
      mask(p, sizes, query, key);
      for (std::int64_t i = 0; i < queries; ++i) {
        const T shrink = online_softmax(p.row(i), keys, scale, maximum[i], sum[i]);
        if (key > 0) multiply_row(o_tile.row(i), K, shrink);
      }
      multiply_add(o_tile, p, v.rows_from(key, keys), Transposed::none);
    }
    for (std::int64_t i = 0; i < queries; ++i) {
      log_sum_exp[query + i] = maximum[i] + std::log(sum[i]);
      if (sum[i] == 0) continue;  // saw no key: o stays 0, log-sum-exp is -infinity
      multiply_row(o_tile.row(i), K, 1 / sum[i]);
      if (kept) multiply_row(kept + (query + i) * sizes.key_tokens, sizes.key_tokens, 1 / sum[i]);
    }
  }
}

// With P the probabilities (Dao et al. 2022, appendix B.2):
//   dV = P^T dO,  dP = dO V^T,  dS = P o (dP - rowsum(dO o O)),
//   dQ = scale dS K,  dK = scale dS^T Q.
template <class T>
void backward_of_head(const AttentionBackward& op, const Cpu& cpu, std::int64_t task) {
  const AttentionSizes& sizes = op.sizes;
  const std::int64_t b = task / sizes.H, h = task % sizes.H, K = sizes.K;
  const T scale = static_cast<T>(sizes.scale);
  const auto of_query = [&](const TokensRef& x) {
    return head_of<T>(x, sizes.query_tokens, K, b, h, cpu);
  };
  const auto of_key = [&](const TokensRef& x) {
    return head_of<T>(x, sizes.key_tokens, K, b, h, cpu);
  };
  const Block<T> d_q = of_query(op.d_q), d_k = of_key(op.d_k), d_v = of_key(op.d_v);
  const Block<T> q = of_query(op.q), o = of_query(op.o), d_o = of_query(op.d_o);
  const Block<T> k = of_key(op.k), v = of_key(op.v);
  const T* log_sum_exp = cpu.at<T>(op.log_sum_exp) + task * sizes.query_tokens;
  T* kept = kept_of<T>(op.probabilities, sizes, task, cpu);

  set_zero(d_q);
  set_zero(d_k);
  set_zero(d_v);
  for (std::int64_t query = 0; query < sizes.query_tokens; query += kQueryTile) {
    const std::int64_t queries = std::min(kQueryTile, sizes.query_tokens - query);
    const Block<T> q_tile = q.rows_from(query, queries), d_o_tile = d_o.rows_from(query, queries);
    const Block<T> d_q_tile = d_q.rows_from(query, queries);
    for (std::int64_t key = 0; key < sizes.key_tokens; key += kKeyTile) {
      const std::int64_t keys =
          visible(sizes, query + queries - 1, key, std::min(kKeyTile, sizes.key_tokens - key));
      if (keys == 0) break;
      const Block<T> k_tile = k.rows_from(key, keys), v_tile = v.rows_from(key, keys);
      const Block<T> p = scores_of<T>(scratch_tile<T>(0), kept, sizes, query, queries, key, keys);
      const Block<T> d_s{scratch_tile<T>(1), queries, keys, keys};
      if (!kept) {
        set_zero(p);
        multiply_add(p, q_tile, k_tile, Transposed::b);
        mask(p, sizes, query, key);
      }
      set_zero(d_s);
      multiply_add(d_s, d_o_tile, v_tile, Transposed::b);
      for (std::int64_t i = 0; i < queries; ++i) {
        T *p_row = p.row(i), *d_s_row = d_s.row(i);
        const T *o_row = o.row(query + i), *d_o_row = d_o_tile.row(i);
        const T total = finite(log_sum_exp[query + i]);
        const T dot = kRow.sum(K, [=](std::int64_t j) { return o_row[j] * d_o_row[j]; });
        if (!kept)
          kRow.each(keys, [=](std::int64_t j) { p_row[j] = fast_exp(scale * p_row[j] - total); });
        kRow.each(keys,
                  [=](std::int64_t j) { d_s_row[j] = scale * p_row[j] * (d_s_row[j] - dot); });
      }
      multiply_add(d_v.rows_from(key, keys), p, d_o_tile, Transposed::a);
      multiply_add(d_q_tile, d_s, k_tile, Transposed::none);
      multiply_add(d_k.rows_from(key, keys), d_s, q_tile, Transposed::a);
    }
  }
}

}  // namespace

void run(const AttentionForward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    parallel_for(cpu, op.sizes.B * op.sizes.H,
                 [&](std::int64_t task) { forward_of_head<T>(op, cpu, task); });
  });
}

void run(const AttentionBackward& op, const Cpu& cpu) {
  with_real_type(op.dtype, [&]<class T>(T) {
    parallel_for(cpu, op.sizes.B * op.sizes.H,
                 [&](std::int64_t task) { backward_of_head<T>(op, cpu, task); });
  });
}

}  // namespace shardlings
