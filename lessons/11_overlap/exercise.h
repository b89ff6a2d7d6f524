// Exercise 11: reduce while backward still runs.
//
// solutions/11_overlap/exercise.cpp holds the course's answer, exercises/11_overlap/ yours.
#pragma once

#include <map>
#include <vector>

#include "comm/communicator.h"

namespace shardlings::lesson11 {

// The sums over all ranks of a step's gradients, under way beside backward.
//
// The buckets lie side by side in the order in which backward completes them (lesson 10): when a
// layer's backward has run for the last time, all gradients up to some element are complete.
class OverlappedReduction {
 public:
  // Requires: `dp` outlives this.
  OverlappedReduction(std::vector<Tensor> buckets, Communicator& dp)
      : buckets_(std::move(buckets)), dp_(dp) {}

  // A step begins, in which every layer's backward runs `passes` times: once per micro-batch.
  void begin_step(std::int64_t passes) {
    passes_ = passes;
    passes_done_.clear();
  }

  // The backward of the layer whose gradients end at element `end` has run once more. In the last
  // pass, all gradients before `end` are complete too: starts the reduction of every bucket that is
  // now full of complete gradients and has not been started. Never waits.
  void layer_done(std::int64_t end);

  // Backward is over: starts what is left, then waits for all. Every bucket has been reduced, once.
  void finish();

  // How many reductions of this step are under way, or were when finish() began.
  std::size_t started() const { return pending_.size(); }

 private:
  std::vector<Tensor> buckets_;
  Communicator& dp_;
  std::int64_t passes_ = 1;
  std::map<std::int64_t, std::int64_t> passes_done_ = {};  // of the layer that ends there
  std::vector<Pending> pending_ = {};                      // of the first buckets, in their order
};

}  // namespace shardlings::lesson11
