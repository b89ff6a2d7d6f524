// Keeps to the next bucket alone, and waits from the last to the first.
#include "lessons/11_overlap/exercise.h"

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  if (++passes_done_[end] != passes_) return;
  std::int64_t begun = 0;
  for (std::size_t b = 0; b < pending_.size(); ++b) begun += buckets_[b].elements();
  while (pending_.size() < buckets_.size()) {
    const Tensor& next = buckets_[pending_.size()];
    begun += next.elements();
    if (begun > end) return;
    pending_.push_back(dp_.start_all_reduce(next, "gradients"));
  }
}

void OverlappedReduction::finish() {
  while (pending_.size() < buckets_.size())
    pending_.push_back(dp_.start_all_reduce(buckets_[pending_.size()], "gradients"));
  while (!pending_.empty()) {
    pending_.back().wait();
    pending_.pop_back();
  }
}

}  // namespace shardlings::lesson11
