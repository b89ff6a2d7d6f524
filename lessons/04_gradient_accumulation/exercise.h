// Exercise 04: the weight of a micro-batch in the step.
//
// The loss of a step is the mean over the valid tokens of its whole batch. Its micro-batches may
// hold very different numbers of them, and some none at all.
//
// solutions/04_gradient_accumulation/exercise.cpp holds the course's answer,
// exercises/04_gradient_accumulation/ yours.
#pragma once

#include <vector>

#include "data/global_batch.h"

namespace shardlings::lesson04 {

// What one forward pass tells about its micro-batch.
struct LossPart {
  double sum = 0;     // the loss in nats, summed over its valid tokens
  double tokens = 0;  // how many these are
};

// For each micro-batch the factor that its backward pass gets. backward(factor) adds the gradient
// of factor * (the loss summed over the micro-batch's valid tokens); after the last one, the
// gradients are those of the loss of the step. Requires: there is a valid token in the step.
std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches);

// The loss of the step, from those of its micro-batches.
// Requires: there is a valid token in the step.
double step_loss(const std::vector<LossPart>& parts);

}  // namespace shardlings::lesson04
