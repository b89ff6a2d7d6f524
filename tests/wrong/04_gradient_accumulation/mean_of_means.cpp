// diagnosis: what makes a mean of the micro-batches' means
// Each micro-batch is given the same weight, however many of its tokens count.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  const auto M = static_cast<double>(micro_batches.size());
  std::vector<double> scales;
  for (const GlobalBatch& micro_batch : micro_batches)
    scales.push_back(1 / (M * micro_batch.valid_tokens()));
  return scales;
}

double step_loss(const std::vector<LossPart>& parts) {
  double sum = 0, tokens = 0;
  for (const LossPart& part : parts) {
    sum += part.sum;
    tokens += part.tokens;
  }
  return sum / tokens;
}

}  // namespace shardlings::lesson04
