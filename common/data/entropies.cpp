#include "data/entropies.h"

#include <algorithm>

#include <cmath>
#include <numeric>
#include <vector>

namespace shardlings {

namespace {

double n_log_n(std::int64_t n) {
  return n == 0 ? 0 : static_cast<double>(n) * std::log(static_cast<double>(n));
}

// H(next | the `order` bytes before) = sum over contexts of
//   (n(context) log n(context) - sum over next of n(context, next) log n(context, next)) / all.
double conditional_entropy(std::span<const std::uint8_t> bytes, std::size_t order) {
  if (bytes.size() <= order) return 0;
  std::vector<std::vector<std::int64_t>> followers(std::size_t{1} << (8 * order));  // of contexts
  std::size_t context = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::int64_t>& counts = followers[context];
    if (counts.empty()) counts.resize(256);
    if (i >= order) ++counts[bytes[i]];
    context = (context << 8 | bytes[i]) & (followers.size() - 1);
  }
  double sum = 0;
  for (const std::vector<std::int64_t>& counts : followers) {
    sum += n_log_n(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    for (const std::int64_t n : counts) sum -= n_log_n(n);
  }
  return sum / static_cast<double>(bytes.size() - order);
}

}  // namespace

Entropies entropies(std::span<const std::uint8_t> bytes) {
  const auto of_order = [&](std::size_t order) {
    return std::max(0.0, conditional_entropy(bytes, order));  // rounding may go below
  };
  return {of_order(0), of_order(1), of_order(2)};
}

}  // namespace shardlings
