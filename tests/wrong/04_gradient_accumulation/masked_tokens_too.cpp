// diagnosis: one over all tokens, those that are masked among them
// B T tokens go in, but only some of them are learned.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  double tokens = 0;
  for (const GlobalBatch& micro_batch : micro_batches)
    tokens += static_cast<double>(micro_batch.tokens_BT.size());
  return std::vector<double>(micro_batches.size(), 1 / tokens);
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
