// FNV-1a: spreads short names over 64 bits, the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardlings {

constexpr std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace shardlings
