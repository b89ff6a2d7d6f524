// Passes counted down from the number that there will be; the buckets behind the layer are
// found by their ends.
#include "lessons/11_overlap/exercise.h"

#include <algorithm>

namespace shardlings::lesson11 {

void OverlappedReduction::layer_done(std::int64_t end) {
  const auto left = passes_done_.try_emplace(end, passes_).first;
  left->second -= 1;
  if (left->second > 0) return;
  std::vector<std::int64_t> ends;
  for (const Tensor& bucket : buckets_)
    ends.push_back(bucket.elements() + (ends.empty() ? 0 : ends.back()));
  const auto complete =
      static_cast<std::size_t>(std::ranges::upper_bound(ends, end) - ends.begin());
  for (std::size_t b = pending_.size(); b < complete; ++b)
    pending_.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
}

void OverlappedReduction::finish() {
  std::vector<Pending> all = std::move(pending_);
  pending_ = {};
  for (std::size_t b = all.size(); b < buckets_.size(); ++b)
    all.push_back(dp_.start_all_reduce(buckets_[b], "gradients"));
  for (Pending& pending : all) pending.wait();
}

}  // namespace shardlings::lesson11
