// "Did you mean ...?" for a misspelt name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shardlings {

// The candidate with the fewest edits to `word` (a letter inserted, dropped or replaced, or two
// neighbours swapped), the first of equals; "" when even that one changes more than a third of the
// word and more than one letter.
// Cost: O(|word| · |candidate|) each.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace shardlings
