// The grammar of the built-in stories: see stories.h.
#pragma once

#include <cstdint>

#include "data/grammar.h"

namespace shardlings {

// The rule "story" tells one story. Who is who follows from `seed`; the words do not.
Rules story_rules(std::uint64_t seed);

}  // namespace shardlings
