// diagnosis: one over the micro-batch's own valid tokens: their means are added up
// Right for a single micro-batch; with M of them a sum of M means.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  std::vector<double> scales;
  for (const GlobalBatch& micro_batch : micro_batches)
    scales.push_back(1 / micro_batch.valid_tokens());
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
