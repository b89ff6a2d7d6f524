// Attention on a GPU: tiles of queries and keys in a block's shared memory (Dao 2023,
// FlashAttention-2, arXiv:2307.08691, algorithms 1 and 2).
//
// A program is what one block of threads does, written as phases:
//   block.each_thread(f)   f(thread) for every thread of the block, then all wait for each other.
// What one phase leaves to the next lies in shared memory; everything else in a program is the same
// for all threads. So the same source runs on the CPU, where a test takes the threads of a phase
// one after the other. No two blocks write to one place: results do not depend on their order.
#pragma once

#include <cmath>

#include "device/cuda/gpu_operations.h"

namespace shardlings {

inline constexpr std::int64_t kMostHeadColumns = 128;

// Queries and keys of a tile. With 128 columns a backward program then has six tiles and two of
// scores in 51 KiB of shared memory, which every GPU that CUDA 12 serves has.
template <class T>
inline constexpr int kAttentionTile = 64 / sizeof(T);

// A row more than needed, so that neighbouring rows begin in different banks of shared memory.
SHARDLINGS_KERNEL constexpr std::int64_t shared_stride(std::int64_t columns) {
  return columns + 1;
}

// Elements of shared memory.
template <class T>
std::int64_t vectors_tile(std::int64_t K) {
  return kAttentionTile<T> * shared_stride(K);
}
template <class T>
std::int64_t scores_tile() {
  return kAttentionTile<T> * shared_stride(kAttentionTile<T>);
}

SHARDLINGS_KERNEL constexpr std::int64_t tiles_of(std::int64_t tokens, std::int64_t tile) {
  return (tokens + tile - 1) / tile;
}

// tokens x K in global memory: head h of sequence b.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride;

  SHARDLINGS_KERNEL T* row(std::int64_t i) const { return data + i * stride; }
};

// What the three programs have in common: the head that a block works on, and tiles of it.
template <class T>
struct AttentionHead {
  static constexpr int kTile = kAttentionTile<T>;

  AttentionSizes sizes;
  std::int64_t task;  // b * H + h

  SHARDLINGS_KERNEL HeadRows<T> rows_of(const TokensRef& x, std::int64_t tokens) const {
    const std::int64_t b = task / sizes.H, h = task % sizes.H;
    return {static_cast<T*>(x.data) + b * tokens * x.stride + h * sizes.K, x.stride};
  }
  SHARDLINGS_KERNEL HeadRows<T> of_queries(const TokensRef& x) const {
    return rows_of(x, sizes.query_tokens);
  }
  SHARDLINGS_KERNEL HeadRows<T> of_keys(const TokensRef& x) const {
    return rows_of(x, sizes.key_tokens);
  }

  SHARDLINGS_KERNEL std::int64_t queries_from(std::int64_t query) const {
    const std::int64_t left = sizes.query_tokens - query;
    return left < kTile ? left : kTile;
  }
  SHARDLINGS_KERNEL std::int64_t keys_from(std::int64_t key) const {
    const std::int64_t left = sizes.key_tokens - key;
    return left < kTile ? left : kTile;
  }

  // How many of the keys key ... key + keys query `i` may see.
  SHARDLINGS_KERNEL std::int64_t visible(std::int64_t i, std::int64_t key,
                                         std::int64_t keys) const {
    const std::int64_t n = sizes.query_offset + i - sizes.key_offset - key + 1;
    return n < 0 ? 0 : n < keys ? n : keys;
  }

  // f(r, c) for this thread's part of rows x columns of a tile; neighbours take neighbouring
  // columns. (In int: a GPU divides those several times faster.)
  template <class F>
  SHARDLINGS_KERNEL static void share(int thread, std::int64_t rows, std::int64_t columns,
                                      const F& f) {
    const int width = static_cast<int>(columns), count = static_cast<int>(rows) * width;
    for (int e = thread; e < count; e += kThreadsPerBlock) f(e / width, e % width);
  }

  // Rows first ... first + count of `x` into a tile.
  SHARDLINGS_KERNEL void load(int thread, T* tile, const HeadRows<T>& x, std::int64_t first,
                              std::int64_t count) const {
    share(thread, count, sizes.K, [&](std::int64_t r, std::int64_t c) {
      tile[r * shared_stride(sizes.K) + c] = x.row(first + r)[c];
    });
  }
  SHARDLINGS_KERNEL void clear(int thread, T* tile) const {
    share(thread, kTile, sizes.K,
          [&](std::int64_t r, std::int64_t c) { tile[r * shared_stride(sizes.K) + c] = 0; });
  }
  SHARDLINGS_KERNEL void store(int thread, const HeadRows<T>& x, const T* tile, std::int64_t first,
                               std::int64_t count) const {
    share(thread, count, sizes.K, [&](std::int64_t r, std::int64_t c) {
      x.row(first + r)[c] = tile[r * shared_stride(sizes.K) + c];
    });
  }

  SHARDLINGS_KERNEL T dot(const T* a, std::int64_t i, const T* b, std::int64_t j) const {
    const T *left = a + i * shared_stride(sizes.K), *right = b + j * shared_stride(sizes.K);
    T sum = 0;
    for (std::int64_t c = 0; c < sizes.K; ++c) sum += left[c] * right[c];
    return sum;
  }
};

// Element (i, j) of a tile of scores.
template <class T>
SHARDLINGS_KERNEL T& score(T* tile, std::int64_t i, std::int64_t j) {
  return tile[i * shared_stride(kAttentionTile<T>) + j];
}

// What to subtract from scores before exp: their maximum or log-sum-exp, but 0 where a query has
// seen no key yet.
template <class T>
SHARDLINGS_KERNEL T finite_or_zero(T x) {
  return x == -std::numeric_limits<T>::infinity() ? T{0} : x;
}

// ---- forward: one block for each tile of queries ----

template <class T>
struct AttentionForwardProgram {
  AttentionForward op;

  static std::int64_t blocks(const AttentionSizes& sizes) {
    return sizes.B * sizes.H * tiles_of(sizes.query_tokens, kAttentionTile<T>);
  }
  static std::int64_t shared_elements(std::int64_t K) {
    return 3 * vectors_tile<T>(K) + scores_tile<T>() + 3 * kAttentionTile<T>;
  }

  struct Shared {
    T *q, *o, *kv;              // kv: keys, then the values of the same tokens
    T* p;                       // scores, then exp(score - maximum)
    T *maximum, *sum, *shrink;  // of each query, over all tiles so far
  };

  template <class Block>
  SHARDLINGS_KERNEL void operator()(Block& block, T* memory) const {
    constexpr int kTile = kAttentionTile<T>;
    const std::int64_t query_tiles = tiles_of(op.sizes.query_tokens, kTile);
    const AttentionHead<T> head{op.sizes, block.index() / query_tiles};
    const std::int64_t query = block.index() % query_tiles * kTile;
    const std::int64_t queries = head.queries_from(query);
    const Shared s = split(memory);

    block.each_thread([&](int thread) {
      head.load(thread, s.q, head.of_queries(op.q), query, queries);
      head.clear(thread, s.o);
      if (thread < kTile) {
        s.maximum[thread] = -std::numeric_limits<T>::infinity();
        s.sum[thread] = 0;
      }
    });
    for (std::int64_t key = 0; key < op.sizes.key_tokens; key += kTile) {
      const std::int64_t keys = head.keys_from(key);
      if (head.visible(query + queries - 1, key, keys) == 0) break;
      put_scores(block, head, s, query, queries, key, keys);
      block.each_thread([&](int thread) {
        head.load(thread, s.kv, head.of_keys(op.v), key, keys);
        if (thread < queries) take_in(s, thread, head.visible(query + thread, key, keys));
      });
      block.each_thread([&](int thread) {
        head.share(thread, queries, op.sizes.K, [&](std::int64_t i, std::int64_t c) {
          const std::int64_t n = head.visible(query + i, key, keys);
          T& o = s.o[i * shared_stride(op.sizes.K) + c];
          o *= s.shrink[i];
          for (std::int64_t j = 0; j < n; ++j)
            o += score(s.p, i, j) * s.kv[j * shared_stride(op.sizes.K) + c];
        });
      });
    }
    store(block, head, s, query, queries);
    if (op.probabilities != nullptr) keep_probabilities(block, head, s, query, queries);
  }

 private:
  SHARDLINGS_KERNEL Shared split(T* memory) const {
    constexpr int kTile = kAttentionTile<T>;
    const std::int64_t vectors = kTile * shared_stride(op.sizes.K);
    T *p = memory + 3 * vectors, *rows = p + kTile * shared_stride(kTile);
    return {memory, memory + vectors, memory + 2 * vectors, p,
            rows,   rows + kTile,     rows + 2 * kTile};
  }

  // p = scale q k^T, for the pairs that the mask leaves.
  template <class Block>
  SHARDLINGS_KERNEL void put_scores(Block& block, const AttentionHead<T>& head, const Shared& s,
                                    std::int64_t query, std::int64_t queries, std::int64_t key,
                                    std::int64_t keys) const {
    block.each_thread([&](int thread) { head.load(thread, s.kv, head.of_keys(op.k), key, keys); });
    block.each_thread([&](int thread) {
      head.share(thread, queries, keys, [&](std::int64_t i, std::int64_t j) {
        if (j < head.visible(query + i, key, keys))
          score(s.p, i, j) = static_cast<T>(op.sizes.scale) * head.dot(s.q, i, s.kv, j);
      });
    });
  }

  // The running softmax of query i takes in n more scores (Milakov & Gimelshein 2018,
  // arXiv:1805.02867).
  SHARDLINGS_KERNEL static void take_in(const Shared& s, int i, std::int64_t n) {
    const T old = s.maximum[i];
    T maximum = old;
    for (std::int64_t j = 0; j < n; ++j)
      maximum = score(s.p, i, j) > maximum ? score(s.p, i, j) : maximum;
    const T now = finite_or_zero(maximum);
    T sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      score(s.p, i, j) = fast_exp(score(s.p, i, j) - now);
      sum += score(s.p, i, j);
    }
    s.maximum[i] = maximum;
    s.shrink[i] = fast_exp(old - now);
    s.sum[i] = s.sum[i] * s.shrink[i] + sum;
  }

  template <class Block>
  SHARDLINGS_KERNEL void store(Block& block, const AttentionHead<T>& head, const Shared& s,
                               std::int64_t query, std::int64_t queries) const {
    const HeadRows<T> o = head.of_queries(op.o);
    T* log_sum_exp = static_cast<T*>(op.log_sum_exp) + head.task * op.sizes.query_tokens + query;
    block.each_thread([&](int thread) {
      head.share(thread, queries, op.sizes.K, [&](std::int64_t i, std::int64_t c) {
        // A query that saw no key has sum 0 and keeps its 0.
        const T value = s.o[i * shared_stride(op.sizes.K) + c];
        o.row(query + i)[c] = s.sum[i] == 0 ? value : value / s.sum[i];
      });
      if (thread < queries) log_sum_exp[thread] = s.maximum[thread] + std::log(s.sum[thread]);
    });
  }

  // The scores once more, now that maximum and sum of the whole row are known.
  template <class Block>
  SHARDLINGS_KERNEL void keep_probabilities(Block& block, const AttentionHead<T>& head,
                                            const Shared& s, std::int64_t query,
                                            std::int64_t queries) const {
    T* rows = static_cast<T*>(op.probabilities) +
              (head.task * op.sizes.query_tokens + query) * op.sizes.key_tokens;
    for (std::int64_t key = 0; key < op.sizes.key_tokens; key += kAttentionTile<T>) {
      const std::int64_t keys = head.keys_from(key);
      put_scores(block, head, s, query, queries, key, keys);
      block.each_thread([&](int thread) {
        head.share(thread, queries, keys, [&](std::int64_t i, std::int64_t j) {
          const bool seen = j < head.visible(query + i, key, keys);
          rows[i * op.sizes.key_tokens + key + j] =
              seen ? fast_exp(score(s.p, i, j) - finite_or_zero(s.maximum[i])) / s.sum[i] : T{0};
        });
      });
    }
  }
};

// ---- backward ----
// With P the probabilities (Dao et al. 2022, arXiv:2205.14135, appendix B.2):
//   dV = P^T dO,  dP = dO V^T,  dS = scale P o (dP - delta),  dQ = dS K,  dK = dS^T Q,
// where delta[i] = dot(dO[i], O[i]). One program per tile of keys adds up dK and dV over the
// queries, another one per tile of queries dQ over the keys. That computes P and dS twice, and
// needs no sum between blocks.

// delta of row r = (b * H + h) * query_tokens + i.
template <class T>
struct AttentionDeltaKernel {
  T* delta;
  AttentionSizes sizes;
  TokensRef o, d_o;

  template <class Row>
  SHARDLINGS_KERNEL void operator()(std::int64_t r, const Row& row) const {
    const AttentionHead<T> head{sizes, r / sizes.query_tokens};
    const std::int64_t i = r % sizes.query_tokens;
    const T *o_row = head.of_queries(o).row(i), *d_o_row = head.of_queries(d_o).row(i);
    delta[r] = row.sum(sizes.K, [=](std::int64_t c) { return o_row[c] * d_o_row[c]; });
  }
};

template <class T>
struct AttentionBackwardTiles {
  AttentionBackward op;
  const T* delta;

  static std::int64_t shared_elements(std::int64_t K) {
    return 6 * vectors_tile<T>(K) + 2 * scores_tile<T>();
  }

  struct Shared {
    T *q, *d_o, *k, *v;
    T *first, *second;  // what is added up: d_q, or d_k and d_v
    T *p, *d_s;
  };

  SHARDLINGS_KERNEL Shared split(T* memory) const {
    constexpr int kTile = kAttentionTile<T>;
    const std::int64_t vectors = kTile * shared_stride(op.sizes.K);
    T* p = memory + 6 * vectors;
    return {memory,
            memory + vectors,
            memory + 2 * vectors,
            memory + 3 * vectors,
            memory + 4 * vectors,
            memory + 5 * vectors,
            p,
            p + kTile * shared_stride(kTile)};
  }

  SHARDLINGS_KERNEL void load_queries(int thread, const AttentionHead<T>& head, const Shared& s,
                                      std::int64_t query, std::int64_t queries) const {
    head.load(thread, s.q, head.of_queries(op.q), query, queries);
    head.load(thread, s.d_o, head.of_queries(op.d_o), query, queries);
  }
  SHARDLINGS_KERNEL void load_keys(int thread, const AttentionHead<T>& head, const Shared& s,
                                   std::int64_t key, std::int64_t keys) const {
    head.load(thread, s.k, head.of_keys(op.k), key, keys);
    head.load(thread, s.v, head.of_keys(op.v), key, keys);
  }

  // p and d_s of a pair of tiles; 0 where the mask hides a pair.
  SHARDLINGS_KERNEL void put_gradients(int thread, const AttentionHead<T>& head, const Shared& s,
                                       std::int64_t query, std::int64_t queries, std::int64_t key,
                                       std::int64_t keys) const {
    const T scale = static_cast<T>(op.sizes.scale);
    const std::int64_t first_row = head.task * op.sizes.query_tokens + query;
    const T* log_sum_exp = static_cast<const T*>(op.log_sum_exp) + first_row;
    const T* kept = static_cast<const T*>(op.probabilities);
    head.share(thread, queries, keys, [&](std::int64_t i, std::int64_t j) {
      T p = 0, d_s = 0;
      if (j < head.visible(query + i, key, keys)) {
        p = kept != nullptr
                ? kept[(first_row + i) * op.sizes.key_tokens + key + j]
                : fast_exp(scale * head.dot(s.q, i, s.k, j) - finite_or_zero(log_sum_exp[i]));
        d_s = scale * p * (head.dot(s.d_o, i, s.v, j) - delta[first_row + i]);
      }
      score(s.p, i, j) = p;
      score(s.d_s, i, j) = d_s;
    });
  }
};

// d_k and d_v: one block for each tile of keys.
template <class T>
struct AttentionKeysProgram {
  AttentionBackwardTiles<T> tiles;

  static std::int64_t blocks(const AttentionSizes& sizes) {
    return sizes.B * sizes.H * tiles_of(sizes.key_tokens, kAttentionTile<T>);
  }

  template <class Block>
  SHARDLINGS_KERNEL void operator()(Block& block, T* memory) const {
    constexpr int kTile = kAttentionTile<T>;
    const AttentionBackward& op = tiles.op;
    const std::int64_t key_tiles = tiles_of(op.sizes.key_tokens, kTile);
    const AttentionHead<T> head{op.sizes, block.index() / key_tiles};
    const std::int64_t key = block.index() % key_tiles * kTile, keys = head.keys_from(key);
    const auto s = tiles.split(memory);

    block.each_thread([&](int thread) {
      tiles.load_keys(thread, head, s, key, keys);
      head.clear(thread, s.first);
      head.clear(thread, s.second);
    });
    for (std::int64_t query = 0; query < op.sizes.query_tokens; query += kTile) {
      const std::int64_t queries = head.queries_from(query);
      if (head.visible(query + queries - 1, key, keys) == 0) continue;
      block.each_thread([&](int thread) { tiles.load_queries(thread, head, s, query, queries); });
      block.each_thread(
          [&](int thread) { tiles.put_gradients(thread, head, s, query, queries, key, keys); });
      block.each_thread([&](int thread) {
        head.share(thread, keys, op.sizes.K, [&](std::int64_t j, std::int64_t c) {
          const std::int64_t stride = shared_stride(op.sizes.K);
          T &d_k = s.first[j * stride + c], &d_v = s.second[j * stride + c];
          for (std::int64_t i = 0; i < queries; ++i) {
            d_k += score(s.d_s, i, j) * s.q[i * stride + c];
            d_v += score(s.p, i, j) * s.d_o[i * stride + c];
          }
        });
      });
    }
    block.each_thread([&](int thread) {
      head.store(thread, head.of_keys(op.d_k), s.first, key, keys);
      head.store(thread, head.of_keys(op.d_v), s.second, key, keys);
    });
  }
};

// d_q: one block for each tile of queries.
template <class T>
struct AttentionQueriesProgram {
  AttentionBackwardTiles<T> tiles;

  static std::int64_t blocks(const AttentionSizes& sizes) {
    return sizes.B * sizes.H * tiles_of(sizes.query_tokens, kAttentionTile<T>);
  }

  template <class Block>
  SHARDLINGS_KERNEL void operator()(Block& block, T* memory) const {
    constexpr int kTile = kAttentionTile<T>;
    const AttentionBackward& op = tiles.op;
    const std::int64_t query_tiles = tiles_of(op.sizes.query_tokens, kTile);
    const AttentionHead<T> head{op.sizes, block.index() / query_tiles};
    const std::int64_t query = block.index() % query_tiles * kTile;
    const std::int64_t queries = head.queries_from(query);
    const auto s = tiles.split(memory);

    block.each_thread([&](int thread) {
      tiles.load_queries(thread, head, s, query, queries);
      head.clear(thread, s.first);
    });
    for (std::int64_t key = 0; key < op.sizes.key_tokens; key += kTile) {
      const std::int64_t keys = head.keys_from(key);
      if (head.visible(query + queries - 1, key, keys) == 0) break;
      block.each_thread([&](int thread) { tiles.load_keys(thread, head, s, key, keys); });
      block.each_thread(
          [&](int thread) { tiles.put_gradients(thread, head, s, query, queries, key, keys); });
      block.each_thread([&](int thread) {
        head.share(thread, queries, op.sizes.K, [&](std::int64_t i, std::int64_t c) {
          const std::int64_t stride = shared_stride(op.sizes.K);
          T& d_q = s.first[i * stride + c];
          for (std::int64_t j = 0; j < keys; ++j) d_q += score(s.d_s, i, j) * s.k[j * stride + c];
        });
      });
    }
    block.each_thread(
        [&](int thread) { head.store(thread, head.of_queries(op.d_q), s.first, query, queries); });
  }
};

// ---- operations ----
// gpu.blocks<T>(blocks, shared_elements, program) runs program(block, memory) for every block, each
// with so many elements of shared memory.

inline void check_head(const AttentionSizes& sizes) {
  if (sizes.K > kMostHeadColumns)
    fail(ExitCode::usage,
         "--backend cuda: heads of {} columns, and its tiles hold {} at most; more "
         "--heads make them narrower, and --backend cpu takes any",
         sizes.K, kMostHeadColumns);
}

template <class Gpu>
void run(const AttentionForward& op, Gpu& gpu) {
  check_head(op.sizes);
  with_real_type(op.dtype, [&]<class T>(T) {
    using Program = AttentionForwardProgram<T>;
    gpu.template blocks<T>(Program::blocks(op.sizes), Program::shared_elements(op.sizes.K),
                           Program{op});
  });
}

template <class Gpu>
void run(const AttentionBackward& op, Gpu& gpu) {
  check_head(op.sizes);
  with_real_type(op.dtype, [&]<class T>(T) {
    const std::int64_t rows = op.sizes.B * op.sizes.H * op.sizes.query_tokens;
    T* delta = gpu.template scratch<T>(rows);
    gpu.rows(rows, AttentionDeltaKernel<T>{delta, op.sizes, op.o, op.d_o});
    const AttentionBackwardTiles<T> tiles{op, delta};
    const std::int64_t shared = tiles.shared_elements(op.sizes.K);
    gpu.template blocks<T>(AttentionKeysProgram<T>::blocks(op.sizes), shared,
                           AttentionKeysProgram<T>{tiles});
    gpu.template blocks<T>(AttentionQueriesProgram<T>::blocks(op.sizes), shared,
                           AttentionQueriesProgram<T>{tiles});
  });
}

}  // namespace shardlings
