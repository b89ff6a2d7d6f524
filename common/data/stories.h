// The built-in text: an endless stream of tiny stories, so that a model can be trained without any
// file and its loss compared with the best there is.
//
// A story is one line of simple English, about 170 bytes, on somebody well known: a few thousand
// people, whose fame follows Zipf's law. Where they live, what they do, whom they know, the name of
// their pet, all follow from the name, so the more of it a model remembers, the nearer it comes to
// the floor. The floor itself is exact (grammar.h says why).
#pragma once

#include "data/grammar.h"
#include "data/token_source.h"

namespace shardlings {

class Stories final : public TokenSource {
 public:
  // Cost: about 15 MiB and 30 ms.
  explicit Stories(std::uint64_t seed);

  std::string name() const override { return "built-in stories"; }
  bool has_floor() const override { return true; }

  // Begins with a story; a blank line follows each. The splits draw from separate random streams.
  // Requires: index < 2^40 and T < 2^24.
  void sample(Split split, std::uint64_t index, std::span<std::uint8_t> bytes,
              std::span<double> nats) const override;

 private:
  Grammar grammar_;
  RandomStream train_;
  RandomStream held_out_;
};

}  // namespace shardlings
