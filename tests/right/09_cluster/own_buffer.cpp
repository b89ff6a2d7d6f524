// The part of the sum in a buffer of its own.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int node = all.rank() / k, chip = all.rank() % k;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  const Span part = shard(x.elements(), levels.node.size(), levels.node.rank());
  const Tensor mine(x.device(), x.dtype(), {part.count}, "part", Category::communication);
  levels.node.reduce_scatter(mine, x, "numbers");
  levels.across.all_reduce(mine, "numbers");
  levels.node.all_gather(x, mine, "numbers");
}

}  // namespace shardlings::lesson09
