// diagnosis: the last ones are in no part
// N / k rounded down: k parts of that size leave up to k - 1 numbers behind.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int node = all.rank() / k, chip = all.rank() % k;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  const std::int64_t count = x.elements() / levels.node.size();
  const Tensor whole = x.columns(0, count * levels.node.size());
  const Tensor mine = whole.columns(levels.node.rank() * count, (levels.node.rank() + 1) * count);
  levels.node.reduce_scatter(mine, whole, "numbers");
  levels.across.all_reduce(mine, "numbers");
  levels.node.all_gather(whole, mine, "numbers");
}

}  // namespace shardlings::lesson09
