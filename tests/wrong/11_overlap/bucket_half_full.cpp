// diagnosis: after layer 4 of 4 in micro-batch 1 of 1: the rest came too late
// Begins the bucket that the layer has only filled in part.
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  if (++passes_done_[end] < passes_) return;
  std::int64_t bucket_end = 0;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    if (bucket_end >= end) break;
    bucket_end += buckets_[b].elements();
    if (b == pending_.size()) pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  }
}

void OverlappedReduction::finish() {
  for (std::size_t b = pending_.size(); b < buckets_.size(); ++b)
    pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
}

}  // namespace shardlings::lesson11
