#include "lessons/08_collectives/exercise.h"

#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  // [exercise 8.1] halve until shard(rank) is left; call what you send "halving" in the ledger
  // | shards(x, p, first, end) is a view of several shards of x. A tensor to receive into:
  // |   Tensor came(x.device(), x.dtype(), mine.shape(), "halving", Category::communication);
  int first = 0, end = p;  // the ranks that exchange among themselves, and the shards they keep
  while (end - first > 1) {
    const int middle = (first + end) / 2, distance = middle - first;
    const bool low = group.rank() < middle;
    const int partner = low ? group.rank() + distance : group.rank() - distance;
    const Tensor lower = shards(x, p, first, middle), upper = shards(x, p, middle, end);
    const Tensor mine = low ? lower : upper, theirs = low ? upper : lower;
    const Tensor came(x.device(), x.dtype(), mine.shape(), "halving", Category::communication);
    group.send_receive(came, partner, theirs, partner, "halving");
    add(mine, mine, came);
    (low ? end : first) = middle;
  }
  // [end]
}

void doubling_all_gather(const Tensor& x, Communicator& group, int p) {
  // [exercise 8.2] double what is there until it is all of x; call it "doubling" in the ledger
  for (int size = 1; size < p; size *= 2) {
    const int first = group.rank() / size * size;  // of the shards that are here
    const bool low = first % (2 * size) == 0;
    const int distance = low ? size : -size;
    const Tensor mine = shards(x, p, first, first + size),
                 theirs = shards(x, p, first + distance, first + distance + size);
    const int partner = group.rank() + distance;
    group.send_receive(theirs, partner, mine, partner, "doubling");
  }
  // [end]
}

void folded_all_reduce(const Tensor& x, Communicator& group, int p) {
  // [exercise 8.3] give the numbers of n - p ranks to others first, and the sums back at the end
  // | Call what is sent besides "folding" in the ledger.
  const int rank = group.rank();
  if (rank >= p) {
    group.send(x, rank - p, "folding");
    group.receive(x, rank - p, "folding");
    return;
  }
  const bool stands_for_two = rank + p < group.size();
  if (stands_for_two) {
    const Tensor came(x.device(), x.dtype(), x.shape(), "folding", Category::communication);
    group.receive(came, rank + p, "folding");
    add(x, x, came);
  }
  halving_reduce_scatter(x, group, p);
  doubling_all_gather(x, group, p);
  if (stands_for_two) group.send(x, rank + p, "folding");
  // [end]
}

}  // namespace shardlings::lesson08
