#include "lessons/08_collectives/halving.h"

#include <bit>

#include "lessons/08_collectives/exercise.h"

namespace shardlings::lesson08 {

void halving_all_reduce(const Tensor& x, Communicator& group) {
  const int p = static_cast<int>(std::bit_floor(static_cast<unsigned>(group.size())));
  if (p < group.size()) return folded_all_reduce(x, group, p);
  halving_reduce_scatter(x, group, p);
  doubling_all_gather(x, group, p);
}

}  // namespace shardlings::lesson08
