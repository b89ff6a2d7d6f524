#include "budget/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "base/suggest.h"
#include "base/units.h"

namespace shardlings {

namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string instead_of(std::string_view word, std::span<const std::string_view> candidates) {
  std::string likely = word.size() > 1 ? nearest(word, candidates) : "";
  for (const std::string_view candidate : candidates)
    if (same_but_for_case(word, candidate)) likely = candidate;
  if (!likely.empty()) return fmt::format("did you mean {}?", likely);
  return candidates.empty() ? "there are none"
                            : fmt::format("there are {}", fmt::join(candidates, ", "));
}

std::string format_amount(double value) {
  if (!(std::abs(value) <= 0x1p53)) return fmt::format("{:.3g}", value);
  // (n-1)/n of a whole number may miss it by a rounding error.
  const double whole = std::round(value);
  if (std::abs(value - whole) <= 1e-9 * std::max(1.0, std::abs(value)) || std::abs(value) > 1e12)
    return format_count(static_cast<std::int64_t>(whole));
  return fmt::format("{:.2f}", value);
}

}  // namespace shardlings
