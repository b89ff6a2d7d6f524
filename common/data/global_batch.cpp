#include "data/global_batch.h"

#include <numeric>

#include "base/check.h"

namespace shardlings {

double GlobalBatch::valid_tokens() const {
  return std::accumulate(weights_BT.begin(), weights_BT.end(), 0.0);
}

GlobalBatch global_batch(const TokenSource& source, Split split, std::int64_t step,
                         std::int64_t sequences, std::int64_t T) {
  CHECK(step >= 0 && sequences >= 1 && T >= 1, "step {} of {} sequences of {} tokens", step,
        sequences, T);
  GlobalBatch batch;
  batch.step = step;
  batch.first_sample = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(sequences);
  batch.sequences = sequences;
  batch.T = T;

  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(T) + 1);
  std::vector<double> nats(source.has_floor() ? static_cast<std::size_t>(T) : 0);
  double entropy = 0;
  for (std::int64_t b = 0; b < sequences; ++b) {
    source.sample(split, batch.first_sample + static_cast<std::uint64_t>(b), bytes, nats);
    batch.tokens_BT.insert(batch.tokens_BT.end(), bytes.begin(), bytes.end() - 1);
    batch.targets_BT.insert(batch.targets_BT.end(), bytes.begin() + 1, bytes.end());
    for (std::int32_t t = 0; t < T; ++t) batch.positions_BT.push_back(t);
    entropy = std::accumulate(nats.begin(), nats.end(), entropy);
  }
  batch.weights_BT.assign(batch.tokens_BT.size(), 1);
  if (source.has_floor()) batch.floor = entropy / batch.valid_tokens();
  return batch;
}

}  // namespace shardlings
