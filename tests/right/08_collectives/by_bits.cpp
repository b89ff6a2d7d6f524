// Partners by the bits of the rank, messages started and waited for, the last ranks folded
// crosswise.
#include "lessons/08_collectives/exercise.h"

#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

namespace {

// The shards that rank and all who share its bits from `distance` on hold.
Tensor held(const Tensor& x, int p, int rank, int distance) {
  const int first = rank & ~(distance - 1);
  return shards(x, p, first, first + distance);
}

}  // namespace

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  for (int distance = p / 2; distance > 0; distance /= 2) {
    const int partner = group.rank() ^ distance;
    const Tensor mine = held(x, p, group.rank(), distance);
    const Tensor came(x.device(), x.dtype(), mine.shape(), "came");
    Pending receiving = group.start_receive(came, partner, "halving");
    group.send(held(x, p, partner, distance), partner, "halving");
    receiving.wait();
    add_scaled(mine, came, 1);
  }
}

void doubling_all_gather(const Tensor& x, Communicator& group, int p) {
  for (int distance = 1; distance < p; distance *= 2) {
    const int partner = group.rank() ^ distance;
    Pending sending = group.start_send(held(x, p, group.rank(), distance), partner, "doubling");
    group.receive(held(x, p, partner, distance), partner, "doubling");
    sending.wait();
  }
}

void folded_all_reduce(const Tensor& x, Communicator& group, int p) {
  const int rank = group.rank();
  if (rank >= p) {
    group.send(x, 2 * p - 1 - rank, "folding");
    group.receive(x, 2 * p - 1 - rank, "folding");
    return;
  }
  const int other = 2 * p - 1 - rank;
  const bool stands_for_two = other < group.size();
  if (stands_for_two) {
    const Tensor came(x.device(), x.dtype(), x.shape(), "folding", Category::communication);
    group.receive(came, other, "folding");
    add(x, x, came);
  }
  halving_reduce_scatter(x, group, p);
  doubling_all_gather(x, group, p);
  if (stands_for_two) group.send(x, other, "folding");
}

}  // namespace shardlings::lesson08
