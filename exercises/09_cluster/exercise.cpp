#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  // [exercise 9.1] return this rank's node, and the group across the nodes that it is in
  // | all.split(colour, key, name): ranks that give the same colour become a group, in the order
  // | of their keys. Which ranks must agree on a colour?
  const int node = all.rank() / k, chip = all.rank() % k;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
  // [end]
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  // [exercise 9.2] add up x over all ranks, in three collectives
  // | Communicator has reduce_scatter, all_gather and all_reduce; shard(N, n, r) is the part of
  // | rank r, and x.columns(begin, end) that part of x, where it is.
  const Span part = shard(x.elements(), levels.node.size(), levels.node.rank());
  const Tensor mine = x.columns(part.begin, part.begin + part.count);
  levels.node.reduce_scatter(mine, x, "numbers");
  levels.across.all_reduce(mine, "numbers");
  levels.node.all_gather(x, mine, "numbers");
  // [end]
}

}  // namespace shardlings::lesson09
