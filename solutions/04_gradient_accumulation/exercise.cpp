#include "lessons/04_gradient_accumulation/exercise.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  // [exercise 4.1] return one factor per micro-batch
  // | micro_batch.valid_tokens() tells how many targets of a micro-batch count.
  double tokens = 0;
  for (const GlobalBatch& micro_batch : micro_batches) tokens += micro_batch.valid_tokens();
  return std::vector<double>(micro_batches.size(), 1 / tokens);
  // [end]
}

double step_loss(const std::vector<LossPart>& parts) {
  // [exercise 4.2] return the mean over all valid tokens of the step
  // | Two parts, 2 nats over 1 token and 90 nats over 9 tokens, make 9.2 nats per token.
  double sum = 0, tokens = 0;
  for (const LossPart& part : parts) {
    sum += part.sum;
    tokens += part.tokens;
  }
  return sum / tokens;
  // [end]
}

}  // namespace shardlings::lesson04
