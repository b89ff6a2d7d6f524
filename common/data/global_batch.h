// The sequences that all ranks together train on in one step.
#pragma once

#include <cstdint>
#include <vector>

#include "data/token_source.h"

namespace shardlings {

// In the arrays, token t of sequence b stands at [b * T + t].
struct GlobalBatch {
  std::int64_t step = 0;
  std::uint64_t first_sample = 0;  // sequence b is sample first_sample + b of the source
  std::int64_t sequences = 0;      // B
  std::int64_t T = 0;

  std::vector<std::int32_t> tokens_BT;
  std::vector<std::int32_t> targets_BT;    // the token that follows
  std::vector<std::int32_t> positions_BT;  // t, which the position embedding reads
  std::vector<double> weights_BT;          // of a target in the loss: 1 = valid, 0 = masked

  std::vector<double> nats_BT;  // -log p of a target; empty: the source does not know it

  // What the sum of the losses is divided by, on every rank.
  double valid_tokens() const;
  // Mean of -log p over the valid targets in nats: the loss of a model that knows all there is to
  // know. NaN when the source does not know it.
  double floor() const;
};

// A pure function of its arguments and the source's seed: every rank makes the same batch.
// Requires: step >= 0; sequences, T >= 1.
GlobalBatch global_batch(const TokenSource& source, Split split, std::int64_t step,
                         std::int64_t sequences, std::int64_t T);

}  // namespace shardlings
