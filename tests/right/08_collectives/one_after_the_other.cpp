// The lower rank of each pair sends first, the other one receives first; as recursions.
#include "lessons/08_collectives/exercise.h"

#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

namespace {

void exchange(const Tensor& came, const Tensor& goes, int partner, Communicator& group) {
  if (group.rank() < partner) group.send(goes, partner, "exchange");
  group.receive(came, partner, "exchange");
  if (group.rank() > partner) group.send(goes, partner, "exchange");
}

void halve(const Tensor& x, Communicator& group, int p, int first, int end) {
  if (end - first == 1) return;
  const int half = (end - first) / 2, middle = first + half;
  const bool low = group.rank() < middle;
  const Tensor lower = shards(x, p, first, middle), upper = shards(x, p, middle, end);
  const Tensor mine = low ? lower : upper;
  const Tensor came(x.device(), x.dtype(), mine.shape(), "came");
  exchange(came, low ? upper : lower, group.rank() + (low ? half : -half), group);
  add(mine, came, mine);
  low ? halve(x, group, p, first, middle) : halve(x, group, p, middle, end);
}

void fill_up(const Tensor& x, Communicator& group, int p, int first, int end) {
  if (end - first == 1) return;
  const int half = (end - first) / 2, middle = first + half;
  const bool low = group.rank() < middle;
  low ? fill_up(x, group, p, first, middle) : fill_up(x, group, p, middle, end);
  const Tensor lower = shards(x, p, first, middle), upper = shards(x, p, middle, end);
  exchange(low ? upper : lower, low ? lower : upper, group.rank() + (low ? half : -half), group);
}

}  // namespace

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  halve(x, group, p, 0, p);
}

void doubling_all_gather(const Tensor& x, Communicator& group, int p) {
  fill_up(x, group, p, 0, p);
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
