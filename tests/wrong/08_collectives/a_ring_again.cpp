// diagnosis: as many as in a ring: the steps are log2(p)
// The lesson's own reduce-scatter: right numbers, and not a step fewer.
#include "lessons/08_collectives/exercise.h"

#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  const int rank = group.rank(), left = (rank + p - 1) % p, right = (rank + 1) % p;
  for (int step = 1; step < p; ++step) {
    const int leaving = (rank + p - step) % p, kept = (leaving + p - 1) % p;
    const Tensor mine = shards(x, p, kept, kept + 1);
    const Tensor came(x.device(), x.dtype(), mine.shape(), "halving", Category::communication);
    group.send_receive(came, left, shards(x, p, leaving, leaving + 1), right, "halving");
    add(mine, mine, came);
  }
}

void doubling_all_gather(const Tensor& x, Communicator& group, int p) {
  for (int size = 1; size < p; size *= 2) {
    const int first = group.rank() / size * size;
    const int distance = first % (2 * size) == 0 ? size : -size;
    const Tensor mine = shards(x, p, first, first + size),
                 theirs = shards(x, p, first + distance, first + distance + size);
    const int partner = group.rank() + distance;
    group.send_receive(theirs, partner, mine, partner, "doubling");
  }
}

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
