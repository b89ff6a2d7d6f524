// What the tests of accumulation share: a batch whose sequences count very differently, and the
// gradients that the whole of it has.
#pragma once

#include "lessons/04_gradient_accumulation/exercise.h"
#include "lessons/04_gradient_accumulation/micro_batches.h"
#include "tests/lessons/01_training_step/support.h"

namespace shardlings::lesson04 {

// Random tokens. Of T targets of a sequence the last few count: all of them, or one, or none, so
// that no two halves of eight sequences are alike. Requires: size.T >= 3.
inline GlobalBatch uneven_batch(const ModelSize& size, std::int64_t sequences, std::uint64_t seed) {
  const std::vector<std::int64_t> valid{1, size.T, 0, size.T / 2, 2, size.T - 1, 0, 1};
  GlobalBatch batch = lesson01::random_batch(size, sequences, seed);
  for (std::int64_t b = 0; b < sequences; ++b)
    for (std::int64_t t = 0; t < size.T; ++t)
      batch.weights_BT[static_cast<std::size_t>(b * size.T + t)] =
          t >= size.T - valid[static_cast<std::size_t>(b) % valid.size()] ? 1 : 0;
  return batch;
}

// Lesson 01's step is the one with a single micro-batch; this is the one with M.
inline double accumulate(lesson01::Gpt& model, const std::vector<GlobalBatch>& parts) {
  lesson01::WeightGradients weights;
  return accumulate_gradients(model, weights, parts);
}

}  // namespace shardlings::lesson04
