// Lesson 04, yours to write: ./shardlings check 04 judges it, hint 04 helps.
// Made from solutions/04_gradient_accumulation/exercise.cpp; ./shardlings reset 04 makes it anew.

#include "lessons/04_gradient_accumulation/exercise.h"

#include "base/todo.h"

namespace shardlings::lesson04 {

std::vector<double> backward_scales(const std::vector<GlobalBatch>& micro_batches) {
  // 4.1: return one factor per micro-batch
  // micro_batch.valid_tokens() tells how many targets of a micro-batch count.
  todo("4.1");
}

double step_loss(const std::vector<LossPart>& parts) {
  // 4.2: return the mean over all valid tokens of the step
  // Two parts, 2 nats over 1 token and 90 nats over 9 tokens, make 9.2 nats per token.
  todo("4.2");
}

}  // namespace shardlings::lesson04
