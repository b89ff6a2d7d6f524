// bf16: the upper half of an f32, with its range and 8 bits of precision. A type for storing; sums
// and products are those of the floats that it converts to.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/math.h"

namespace shardlings {

struct Bf16 {
  std::uint16_t bits;

  Bf16() = default;
  // To the nearest value; of two that are equally near, to the one whose last bit is 0. NaN stays
  // NaN.
  SHARDLINGS_KERNEL explicit Bf16(float x) : bits(rounded(x)) {}
  SHARDLINGS_KERNEL explicit Bf16(double x) : Bf16(to_odd(x)) {}

  SHARDLINGS_KERNEL operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  SHARDLINGS_KERNEL static std::uint16_t rounded(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    // Without the bit that makes it quiet, a NaN of low bits alone would become an infinity.
    const std::uint32_t nan = all >> 16 | 0x40, up = 0x7fff + (all >> 16 & 1);
    return static_cast<std::uint16_t>(x != x ? nan : (all + up) >> 16);
  }

  // Of the two floats around x, the one whose last bit is 1: x and it lie on the same side of every
  // value half-way between two bf16. The nearest float may be such a value where x is none.
  SHARDLINGS_KERNEL static float to_odd(double x) {
    const float nearest = static_cast<float>(x);
    const auto all = std::bit_cast<std::uint32_t>(nearest);
    if (nearest == x || x != x || (all & 1) != 0) return nearest;
    return std::bit_cast<float>(std::abs(x) > std::abs(nearest) ? all + 1 : all - 1);
  }
};

}  // namespace shardlings
