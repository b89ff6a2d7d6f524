// Lesson 09, yours to write: ./shardlings check 09 judges it, hint 09 helps.
// Made from solutions/09_cluster/exercise.cpp; ./shardlings reset 09 makes it anew.

#include "lessons/09_cluster/exercise.h"

#include "base/todo.h"

namespace shardlings::lesson09 {

Levels levels_of(Communicator& all, int k) {
  // 9.1: return this rank's node, and the group across the nodes that it is in
  // all.split(colour, key, name): ranks that give the same colour become a group, in the order
  // of their keys. Which ranks must agree on a colour?
  todo("9.1");
}

void two_level_all_reduce(const Tensor& x, Levels& levels) {
  // 9.2: add up x over all ranks, in three collectives
  // Communicator has reduce_scatter, all_gather and all_reduce; shard(N, n, r) is the part of
  // rank r, and x.columns(begin, end) that part of x, where it is.
  todo("9.2");
}

}  // namespace shardlings::lesson09
