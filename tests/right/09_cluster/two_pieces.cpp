// In two pieces: while the first is on its way between nodes, the second is added up inside.
#include "lessons/09_cluster/exercise.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  const int node = all.rank() / k, chip = all.rank() % k;
  return {.node = all.split(node, chip, "node"), .across = all.split(chip, node, "across")};
}

namespace {

struct Piece {
  Tensor whole, mine;
};

Piece piece_of(const Tensor& x, std::int64_t begin, std::int64_t end, Communicator& node) {
  const Tensor whole = x.columns(begin, end);
  const Span part = shard(whole.elements(), node.size(), node.rank());
  return {whole, whole.columns(part.begin, part.begin + part.count)};
}

}  // namespace

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  const std::int64_t half = x.elements() / 2;
  const Piece first = piece_of(x, 0, half, levels.node),
              second = piece_of(x, half, x.elements(), levels.node);
  levels.node.reduce_scatter(first.mine, first.whole, "numbers");
  Pending between = levels.across.start_all_reduce(first.mine, "numbers");
  levels.node.reduce_scatter(second.mine, second.whole, "numbers");
  between.wait();
  between = levels.across.start_all_reduce(second.mine, "numbers");
  levels.node.all_gather(first.whole, first.mine, "numbers");
  between.wait();
  levels.node.all_gather(second.whole, second.mine, "numbers");
}

}  // namespace shardlings::lesson09
