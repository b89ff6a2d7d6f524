// diagnosis: nothing came from other ranks: a phase is missing
// The sums are there after halving, each on one rank.
#include "lessons/08_collectives/exercise.h"

#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  int first = 0, end = p;
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
}

void doubling_all_gather(const Tensor&, Communicator&, int) {}

void folded_all_reduce(const Tensor& x, Communicator& group, int p) {
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
}

}  // namespace shardlings::lesson08
