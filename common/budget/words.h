// Words that the messages of this layer share.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shardlings {

// What to write in the place of a name that does not exist: "did you mean gradients?" when one is
// near, otherwise all there are: "there are dp, tp, pp". One letter is near another only in the
// other case.
std::string instead_of(std::string_view word, std::span<const std::string_view> candidates);

// 1234567 -> "1,234,567"; 28.5 -> "28.50"; above 2^53, where whole numbers have gaps, "1.23e+20".
std::string format_amount(double value);

}  // namespace shardlings
