// Groups in the opposite order, all of them, and colours that are no ranks; the second level in two
// halves.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int node = all.rank() / k, chip = all.rank() % k;
  Communicator across = all.split(100 + chip, -node, "across");
  Communicator within = all.split(7 * node, k - chip, "node");
  return {.node = std::move(within), .across = std::move(across)};
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  const Span part = shard(x.elements(), levels.node.size(), levels.node.rank());
  const Tensor mine = x.columns(part.begin, part.begin + part.count);
  levels.node.reduce_scatter(mine, x, "numbers");
  const Span piece = shard(part.count, levels.across.size(), levels.across.rank());
  const Tensor smaller = mine.columns(piece.begin, piece.begin + piece.count);
  levels.across.reduce_scatter(smaller, mine, "numbers");
  levels.across.all_gather(mine, smaller, "numbers");
  levels.node.all_gather(x, mine, "numbers");
}

}  // namespace shardlings::lesson09
