// diagnosis: nothing begins before finish()
// Right sums, right bytes, and lesson 10: nothing overlaps.
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {}

void OverlappedReduction::finish() {
  for (std::size_t b = pending_.size(); b < buckets_.size(); ++b)
    pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
}

}  // namespace shardlings::lesson11
