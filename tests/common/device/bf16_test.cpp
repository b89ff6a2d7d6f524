// bf16 against its definition, for every pair of neighbours.
#include "device/bf16.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace shardlings;

namespace {

constexpr std::uint32_t kInfinity = 0x7f80;  // bits of the first pattern that is no number

Bf16 of_bits(std::uint32_t bits) {
  Bf16 x;
  x.bits = static_cast<std::uint16_t>(bits);
  return x;
}

// A bf16's bits by what they mean: sign, 8 bits of exponent, 7 of fraction. Beyond the largest
// number, the value that the next one would have.
double value_of(std::uint32_t bits) {
  const std::uint32_t fraction = bits & 0x7f, exponent = bits >> 7 & 0xff;
  const double value = exponent == 0 ? std::ldexp(fraction, -133)
                                     : std::ldexp(128 + fraction, static_cast<int>(exponent) - 134);
  return bits >> 15 != 0 ? -value : value;
}

template <class T>
std::uint32_t rounded(double x) {
  return Bf16(static_cast<T>(x)).bits;
}

}  // namespace

TEST_CASE("a bf16 takes two bytes") {
  CHECK(sizeof(Bf16) == 2);
}

TEST_CASE("every bf16 has its value as a float, and comes back from it") {
  for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
    INFO(std::hex << bits);
    const float value = of_bits(bits);
    const std::uint32_t size = bits & 0x7fff;
    if (size < kInfinity) REQUIRE(double{value} == value_of(bits));
    if (size == kInfinity) REQUIRE(double{value} == (bits >> 15 != 0 ? -HUGE_VAL : HUGE_VAL));
    REQUIRE(std::isnan(value) == (size > kInfinity));
    const std::uint32_t expected = size > kInfinity ? bits | 0x40 : bits;  // a NaN becomes quiet
    REQUIRE(Bf16(value).bits == expected);
    REQUIRE(Bf16(double{value}).bits == expected);
  }
}

TEMPLATE_TEST_CASE("between two bf16 the nearer one is taken, half-way the even one", "", float,
                   double) {
  for (const std::uint32_t sign : {0x0000, 0x8000})
    for (std::uint32_t size = 0; size < kInfinity; ++size) {
      const std::uint32_t below = sign | size, above = below + 1;
      INFO(std::hex << below);
      const auto half_way = static_cast<TestType>((value_of(below) + value_of(above)) / 2);
      const auto towards = [&](double end) {
        return std::nextafter(half_way, static_cast<TestType>(end));
      };
      REQUIRE(rounded<TestType>(half_way) == (size % 2 == 0 ? below : above));
      REQUIRE(rounded<TestType>(towards(value_of(below))) == below);
      REQUIRE(rounded<TestType>(towards(2 * value_of(above))) == above);
    }
}

TEST_CASE("what is too large for a bf16 becomes infinite, what is too small zero") {
  for (const double sign : {1.0, -1.0}) {
    const std::uint32_t bit = sign < 0 ? 0x8000 : 0;
    CHECK(rounded<float>(sign * double{std::numeric_limits<float>::max()}) == (bit | kInfinity));
    CHECK(rounded<double>(sign * std::numeric_limits<double>::max()) == (bit | kInfinity));
    CHECK(rounded<float>(sign * 0x1p-134) == bit);
    CHECK(rounded<double>(sign * 0x1p-1000) == bit);
  }
}

TEST_CASE("NaN stays NaN, wherever its bits are") {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0x7fc00000u, 0xff800001u, 0xffffffffu})
    CHECK(std::isnan(float{Bf16(std::bit_cast<float>(bits))}));
  for (const std::uint64_t bits :
       {0x7ff0000000000001u, 0x7fffffffffffffffu, 0xfff8000000000000u, 0xffffffffffffffffu})
    CHECK(std::isnan(float{Bf16(std::bit_cast<double>(bits))}));
}
