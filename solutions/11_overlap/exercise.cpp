#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  // [exercise 11.1] count the passes; after the last one, start the buckets that are complete
  // | dp_.start_all_reduce(bucket, "gradients") returns a Pending at once; keep it in pending_.
  // | pending_.size() buckets have been started: where does the next one end?
  if (++passes_done_[end] < passes_) return;
  std::int64_t bucket_end = 0;
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    bucket_end += buckets_[b].elements();
    if (bucket_end > end) break;
    if (b == pending_.size()) pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  }
  // [end]
}

void OverlappedReduction::finish() {
  // [exercise 11.2] start the buckets that are left; wait for all; forget them
  // | The embedding's gradients are complete only now, and the last bucket with them.
  for (std::size_t b = pending_.size(); b < buckets_.size(); ++b)
    pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
  // [end]
}

}  // namespace shardlings::lesson11
