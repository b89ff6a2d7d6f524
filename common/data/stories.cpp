#include "data/stories.h"

#include "base/check.h"
#include "data/story_rules.h"

namespace shardlings {

Stories::Stories(std::uint64_t seed)
    : grammar_(story_rules(seed), "story"),
      train_(seed, "stories.train"),
      held_out_(seed, "stories.held_out") {}

void Stories::sample(Split split, std::uint64_t index, std::span<std::uint8_t> bytes,
                     std::span<double> nats) const {
  constexpr int kDrawBits = 24;  // no sample draws more often than it has bytes
  CHECK(index >> (64 - kDrawBits) == 0, "sample {} is beyond 2^{}", index, 64 - kDrawBits);
  CHECK(bytes.size() >> kDrawBits == 0, "a sample of {} bytes is beyond 2^{}", bytes.size(),
        kDrawBits);
  grammar_.fill(bytes, nats, split == Split::train ? train_ : held_out_, index << kDrawBits);
}

}  // namespace shardlings
