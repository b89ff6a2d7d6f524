// The count from the weights themselves, the loss as a mean that moves with every part.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  double tokens = 0;
  for (const GlobalBatch& micro_batch : micro_batches)
    for (const double weight : micro_batch.weights_BT) tokens += weight;
  std::vector<double> scales(micro_batches.size());
  for (double& scale : scales) scale = 1 / tokens;
  return scales;
}

double step_loss(const std::vector<LossPart>& parts) {
  double loss = 0, tokens = 0;
  for (const LossPart& part : parts) {
    if (part.tokens == 0) continue;
    tokens += part.tokens;
    loss += (part.sum - part.tokens * loss) / tokens;
  }
  return loss;
}

}  // namespace shardlings::lesson04
