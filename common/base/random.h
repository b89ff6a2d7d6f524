// Random values as pure functions of (seed, name, index): the same in any layout, on any rank, in
// any order. A shard draws its own slice of a tensor without ever holding the whole.
//
// Counter-based generator: Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as
// 1, 2, 3"), from the Random123 library.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shardlings {

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  // 64 random bits for `index`.
  std::uint64_t bits(std::uint64_t index) const { return block(index)[0]; }

  // In [0, 1), with 53 bits.
  double uniform(std::uint64_t index) const;

  // In [0, bound). Requires: bound >= 1. (The bias of bound / 2^64 is far below anything measured.)
  std::uint64_t below(std::uint64_t bound, std::uint64_t index) const;

  // Standard normal (Box-Muller).
  double normal(std::uint64_t index) const;

 private:
  std::array<std::uint64_t, 4> block(std::uint64_t index) const;

  std::uint64_t seed_;
  std::uint64_t name_hash_;
};

}  // namespace shardlings
