#include "base/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "base/hash.h"

namespace shardlings {

namespace {

// The upper 53 bits as a fraction in [0, 1).
double fraction(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : seed_(seed), name_hash_(hash_of(name)) {}

std::array<std::uint64_t, 4> RandomStream::block(std::uint64_t index) const {
  const r123::Philox4x64::ctr_type counter{{index, 0, 0, 0}};
  const r123::Philox4x64::key_type key{{seed_, name_hash_}};
  const auto random = r123::Philox4x64{}(counter, key);
  return {random[0], random[1], random[2], random[3]};
}

double RandomStream::uniform(std::uint64_t index) const {
  return fraction(bits(index));
}

std::uint64_t RandomStream::below(std::uint64_t bound, std::uint64_t index) const {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits(index)) * bound) >> 64);
}

double RandomStream::normal(std::uint64_t index) const {
  const auto random = block(index);
  // 1 - u lies in (0, 1], where the logarithm is finite.
  const double radius = std::sqrt(-2 * std::log(1 - fraction(random[0])));
  return radius * std::cos(2 * std::numbers::pi * fraction(random[1]));
}

}  // namespace shardlings
