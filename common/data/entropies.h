// What a text looks like to someone who counts: the losses of the simplest language models, to hold
// a transformer's against.
#pragma once

#include <cstdint>
#include <span>

namespace shardlings {

// Nats per byte.
struct Entropies {
  double unigram = 0;  // H(byte)
  double bigram = 0;   // H(byte | the one before)
  double trigram = 0;  // H(byte | the two before)
};

// From the exact counts in `bytes`: what a model that knows them all would lose on this very text.
// 0 where there are too few bytes to count.
// Cost: 2 KiB for every pair of bytes that occurs, a few nanoseconds per byte.
Entropies entropies(std::span<const std::uint8_t> bytes);

}  // namespace shardlings
