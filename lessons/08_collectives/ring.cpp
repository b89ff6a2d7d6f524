#include "lessons/08_collectives/ring.h"

#include "tensor/ops.h"

namespace shardlings::lesson08 {

namespace {

// The shard of a rank; ranks are counted around the ring, so that -1 is n - 1.
Tensor shard_of(const Tensor& x, int n, int rank) {
  const int r = (rank + n) % n;
  return shards(x, n, r, r + 1);
}

}  // namespace

Tensor shards(const Tensor& x, int n, int first, int end) {
  CHECK(0 <= first && first < end && end <= n, "shards {} to {} of {}", first, end, n);
  const Span begins = shard(x.elements(), n, first), ends = shard(x.elements(), n, end - 1);
  return x.columns(begins.begin, ends.begin + ends.count);
}

// [slide reduce_scatter]
void reduce_scatter(const Tensor& x, Communicator& ring) {
  const int n = ring.size(), rank = ring.rank();
  const int left = (rank + n - 1) % n, right = (rank + 1) % n;
  for (int step = 1; step < n; ++step) {
    const Tensor leaving = shard_of(x, n, rank - step);   // added up so far: on to the next rank
    const Tensor mine = shard_of(x, n, rank - step - 1);  // here my numbers are still missing
    const Tensor came(x.device(), x.dtype(), mine.shape(), "ring", Category::communication);
    ring.send_receive(came, left, leaving, right, "reduce_scatter");
    add(mine, mine, came);
  }
}
// [end slide]

// [slide all_gather]
void all_gather(const Tensor& x, Communicator& ring) {
  const int n = ring.size(), rank = ring.rank();
  const int left = (rank + n - 1) % n, right = (rank + 1) % n;
  for (int step = 0; step < n - 1; ++step) {
    const Tensor leaving = shard_of(x, n, rank - step);  // at first my own, then what came last
    const Tensor coming = shard_of(x, n, rank - step - 1);
    ring.send_receive(coming, left, leaving, right, "all_gather");
  }
}

void all_reduce(const Tensor& x, Communicator& ring) {
  reduce_scatter(x, ring);
  all_gather(x, ring);
}
// [end slide]

void all_to_all(const Tensor& out, const Tensor& in, Communicator& group) {
  const int n = group.size(), rank = group.rank();
  const std::int64_t block = shard(in.elements(), n, rank).count;
  const auto from_rank = [&](int r) { return out.columns(r * block, (r + 1) * block); };
  cast(from_rank(rank), shard_of(in, n, rank));  // my own block travels nowhere
  for (int step = 1; step < n; ++step) {
    const int to = (rank + step) % n, from = (rank + n - step) % n;
    group.send_receive(from_rank(from), from, shard_of(in, n, to), to, "all_to_all");
  }
}

void star_all_reduce(const Tensor& x, Communicator& group) {
  if (group.rank() > 0) {
    group.send(x, 0, "star");
    group.receive(x, 0, "star");
    return;
  }
  for (int r = 1; r < group.size(); ++r) {
    const Tensor came(x.device(), x.dtype(), x.shape(), "star", Category::communication);
    group.receive(came, r, "star");
    add(x, x, came);
  }
  for (int r = 1; r < group.size(); ++r) group.send(x, r, "star");
}

}  // namespace shardlings::lesson08
