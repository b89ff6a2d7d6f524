// diagnosis: dealt out to the nodes like cards
// Rank r on node r % nodes: what a launcher that maps by node does.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int nodes = all.size() / k;
  const int node = all.rank() % nodes, chip = all.rank() / nodes;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  const Span part = shard(x.elements(), levels.node.size(), levels.node.rank());
  const Tensor mine = x.columns(part.begin, part.begin + part.count);
  levels.node.reduce_scatter(mine, x, "numbers");
  levels.across.all_reduce(mine, "numbers");
  levels.node.all_gather(x, mine, "numbers");
}

}  // namespace shardlings::lesson09
