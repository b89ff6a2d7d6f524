// diagnosis: with one micro-batch it was once: now several of them reduce
// What DDP does without no_sync(): M times the bytes, and sums of sums.
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  std::int64_t bucket_end = 0, begin = 0;
  for (const auto& [layer_end, passes] : passes_done_)
    if (layer_end < end) begin = layer_end;
  passes_done_[end] += 1;
  for (const Tensor& bucket : buckets_) {
    bucket_end += bucket.elements();
    if (begin < bucket_end && bucket_end <= end)
      pending_.push_back(dp_.start_all_reduce(bucket, "gradients"));
  }
}

void OverlappedReduction::finish() {
  std::int64_t bucket_end = 0;
  const std::int64_t complete = passes_done_.rbegin()->first;
  for (const Tensor& bucket : buckets_) {
    bucket_end += bucket.elements();
    if (bucket_end > complete) pending_.push_back(dp_.start_all_reduce(bucket, "gradients"));
  }
  for (Pending& pending : pending_) pending.wait();
  pending_.clear();
}

}  // namespace shardlings::lesson11
