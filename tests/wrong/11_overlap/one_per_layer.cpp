// diagnosis: several buckets became complete at once, and one was begun
// Small buckets pile up until finish().
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  if (++passes_done_[end] < passes_) return;
  std::int64_t next_end = 0;
  for (std::size_t b = 0; b <= pending_.size() && b < buckets_.size(); ++b)
    next_end += buckets_[b].elements();
  if (pending_.size() < buckets_.size() && next_end <= end)
    pending_.push_back(dp_.start_all_reduce(buckets_[pending_.size()], "gradients"));
}

void OverlappedReduction::finish() {
  for (std::size_t b = pending_.size(); b < buckets_.size(); ++b)
    pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
}

}  // namespace shardlings::lesson11
