#include "data/global_batch.h"

#include <limits>
#include <numeric>

#include "base/check.h"

namespace shardlings {

double GlobalBatch::valid_tokens() const {
  return std::accumulate(weights_BT.begin(), weights_BT.end(), 0.0);
}

double GlobalBatch::floor() const {
  if (nats_BT.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::inner_product(nats_BT.begin(), nats_BT.end(), weights_BT.begin(), 0.0) /
         valid_tokens();
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
  for (std::int64_t b = 0; b < sequences; ++b) {
    source.sample(split, batch.first_sample + static_cast<std::uint64_t>(b), bytes, nats);
    batch.tokens_BT.insert(batch.tokens_BT.end(), bytes.begin(), bytes.end() - 1);
    batch.targets_BT.insert(batch.targets_BT.end(), bytes.begin() + 1, bytes.end());
    for (std::int32_t t = 0; t < T; ++t) batch.positions_BT.push_back(t);
    batch.nats_BT.insert(batch.nats_BT.end(), nats.begin(), nats.end());
  }
  batch.weights_BT.assign(batch.tokens_BT.size(), 1);
  return batch;
}

}  // namespace shardlings
