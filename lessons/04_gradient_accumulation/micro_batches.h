// Gradient accumulation: the batch of a step goes through the model in parts, one after the other.
//
// Activations live from forward to backward of one part. Gradients stay and add up. So the memory
// of a large batch shrinks to that of its largest part, and the step stays the same.
#pragma once

#include "lessons/01_training_step/gpt.h"
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

// Sequences [first, end) of a batch.
GlobalBatch sequences_of(const GlobalBatch& global, std::int64_t first, std::int64_t end);

// The batch in M parts of whole sequences, in order. Sizes differ by at most one, so the largest
// has ceil(sequences / M). No part is empty: there are fewer of them when there are fewer
// sequences. Requires: M >= 1.
std::vector<GlobalBatch> micro_batches(const GlobalBatch& global, std::int64_t M);

// Forward and backward of every part; backward m adds the gradients of scales[m] * (its summed
// loss). Returns what the forwards tell.
// Cost: activations of the largest part alone; the FLOPs of all.
std::vector<LossPart> run_micro_batches(lesson01::Gpt& model, lesson01::WeightGradients& weights,
                                        const std::vector<GlobalBatch>& parts,
                                        const std::vector<double>& scales);

// The whole step's. Adds the gradients of the loss of the step, the mean over all
// valid tokens, to those of the model's parameters, and returns that loss.
// Requires: a valid token in some part.
double accumulate_gradients(lesson01::Gpt& model, lesson01::WeightGradients& weights,
                            const std::vector<GlobalBatch>& parts);

}  // namespace shardlings::lesson04
