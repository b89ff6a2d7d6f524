#include "lessons/04_gradient_accumulation/answers.h"

#include <algorithm>

#include "base/random.h"

namespace shardlings::lesson04 {

void keep_answers(GlobalBatch& batch, std::uint64_t seed) {
  const RandomStream random(seed, "answers");
  for (std::int64_t b = 0; b < batch.sequences; ++b) {
    const double u = random.uniform(batch.first_sample + static_cast<std::uint64_t>(b));
    // The cube: half of the answers have at most T / 8 tokens, a fifth has more than T / 2.
    const auto answer = 1 + static_cast<std::int64_t>(u * u * u * static_cast<double>(batch.T));
    std::fill_n(batch.weights_BT.begin() + b * batch.T, batch.T - answer, 0.0);
  }
}

void learn_answers(Run& run) {
  const auto seed = static_cast<std::uint64_t>(run.options().seed);
  run.prepare_batches([seed](GlobalBatch& batch) { keep_answers(batch, seed); });
}

}  // namespace shardlings::lesson04
