// Each micro-batch's mean, weighted by its share of the tokens; one without any is left out.
#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  double tokens = 0;
  for (const GlobalBatch& micro_batch : micro_batches) tokens += micro_batch.valid_tokens();
  std::vector<double> scales;
  for (const GlobalBatch& micro_batch : micro_batches) {
    const double own = micro_batch.valid_tokens(), share = own / tokens;
    scales.push_back(own > 0 ? share / own : 0);
  }
  return scales;
}

double step_loss(const std::vector<LossPart>& parts) {
  double tokens = 0, loss = 0;
  for (const LossPart& part : parts) tokens += part.tokens;
  for (const LossPart& part : parts)
    if (part.tokens > 0) loss += part.tokens / tokens * (part.sum / part.tokens);
  return loss;
}

}  // namespace shardlings::lesson04
