// diagnosis: the sum over one rank of every node
// The first level is missing: k rings that never meet.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int node = all.rank() / k, chip = all.rank() % k;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  levels.across.all_reduce(x, "numbers");
}

}  // namespace shardlings::lesson09
