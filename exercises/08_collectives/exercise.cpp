// Lesson 08, yours to write: ./shardlings check 08 judges it, hint 08 helps.
// Made from solutions/08_collectives/exercise.cpp; ./shardlings reset 08 makes it anew.

#include "lessons/08_collectives/exercise.h"

#include "base/todo.h"
#include "lessons/08_collectives/ring.h"
#include "tensor/ops.h"

namespace shardlings::lesson08 {

void halving_reduce_scatter(const Tensor& x, Communicator& group, int p) {
  // 8.1: halve until shard(rank) is left; call what you send "halving" in the ledger
  // shards(x, p, first, end) is a view of several shards of x. A tensor to receive into:
  //   Tensor came(x.device(), x.dtype(), mine.shape(), "halving", Category::communication);
  todo("8.1");
}

void doubling_all_gather(const Tensor& x, Communicator& group, int p) {
  // 8.2: double what is there until it is all of x; call it "doubling" in the ledger
  todo("8.2");
}

void folded_all_reduce(const Tensor& x, Communicator& group, int p) {
  // 8.3: give the numbers of n - p ranks to others first, and the sums back at the end
  // Call what is sent besides "folding" in the ledger.
  todo("8.3");
}

}  // namespace shardlings::lesson08
