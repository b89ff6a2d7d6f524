// Data parallelism: every rank holds the whole model and trains on samples of its own.
//
// The loss is a mean over the valid tokens of all ranks, so its gradient is the sum of what the
// ranks find, each scaled by one number that all know: 1 / (valid tokens of the global batch). The
// mean of the ranks' own means is another gradient as soon as their tokens are uneven.
//
// [Li et al. 2020, PyTorch Distributed, arXiv:2006.15704, section 3]
#pragma once

#include "comm/communicator.h"
#include "lessons/04_gradient_accumulation/micro_batches.h"

namespace shardlings::lesson10 {

// The sequences of the global batch that are this rank's: neighbours, and as many as any other
// rank's or one more or less. Together the ranks have exactly the global batch.
// Errors: Error(usage) when there are fewer sequences than ranks.
GlobalBatch own_samples(const GlobalBatch& global, const Communicator& dp);

// Forward and backward of this rank's samples in M parts. Adds the gradients of
// scale * (their summed loss), and returns that loss, unscaled.
// Requires: scale is 1 / (valid tokens of the global batch), the same on all ranks.
double add_gradients(lesson01::Gpt& model, lesson01::WeightGradients& weights,
                     const GlobalBatch& own, std::int64_t M, double scale);

// The gradients of all ranks added up, a bucket at a time; every rank gets the same bits.
// Cost: 2 (n-1)/n g P bytes sent, in 2 (n-1) messages per bucket; memory: g/n of the largest
// bucket.
void all_reduce_gradients(const std::vector<Tensor>& buckets, Communicator& dp);

// Whether all ranks hold the same weights, to the bit: they compare a hash.
bool replicas_are_equal(const lesson01::Parameters& parameters, Communicator& dp);

}  // namespace shardlings::lesson10
