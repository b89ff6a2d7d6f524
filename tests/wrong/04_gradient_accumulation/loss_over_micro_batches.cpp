// diagnosis: the sum of the losses, over the number of micro-batches
// Grows with the number of tokens in a micro-batch.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  double tokens = 0;
  for (const GlobalBatch& micro_batch : micro_batches) tokens += micro_batch.valid_tokens();
  return std::vector<double>(micro_batches.size(), 1 / tokens);
}

double step_loss(const std::vector<LossPart>& parts) {
  double sum = 0;
  for (const LossPart& part : parts) sum += part.sum;
  return sum / static_cast<double>(parts.size());
}

}  // namespace shardlings::lesson04
