#include "comm/steps.h"

#include <algorithm>

namespace shardlings {

namespace {

int around(int rank, int n) {
  return ((rank % n) + n) % n;
}

}  // namespace

Span shard(std::int64_t N, int n, int r) {
  const std::int64_t size = (N + n - 1) / n;
  const std::int64_t begin = std::min(N, r * size);
  return {begin, std::min(N - begin, size)};
}

Steps ring_reduce_scatter(std::int64_t N, int n, int rank) {
  Steps steps;
  for (int i = 1; i < n; ++i) {
    // The sum of shard s sets out at rank s + 1 and comes home after n - 1 hops.
    const int leaving = around(rank - i, n), coming = around(rank - i - 1, n);
    steps.push_back({.to = around(rank + 1, n),
                     .send = shard(N, n, leaving),
                     .from = around(rank - 1, n),
                     .receive = shard(N, n, coming),
                     .reduce = true});
  }
  return steps;
}

Steps ring_all_gather(std::int64_t N, int n, int rank) {
  Steps steps;
  for (int i = 0; i < n - 1; ++i) {
    const int leaving = around(rank - i, n), coming = around(rank - i - 1, n);
    steps.push_back({.to = around(rank + 1, n),
                     .send = shard(N, n, leaving),
                     .from = around(rank - 1, n),
                     .receive = shard(N, n, coming)});
  }
  return steps;
}

Steps ring_all_reduce(std::int64_t N, int n, int rank) {
  Steps steps = ring_reduce_scatter(N, n, rank);
  const Steps gather = ring_all_gather(N, n, rank);
  steps.insert(steps.end(), gather.begin(), gather.end());
  return steps;
}

Steps chain_broadcast(std::int64_t N, int n, int rank, int root) {
  const int place = around(rank - root, n);
  const int left = around(rank - 1, n), right = around(rank + 1, n);
  Steps steps;
  if (place > 0) steps.push_back({.from = left, .receive = {0, N}});
  if (place < n - 1) steps.push_back({.to = right, .send = {0, N}});
  return steps;
}

}  // namespace shardlings
