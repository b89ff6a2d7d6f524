#include "base/random.h"

#include <cmath>
#include <set>

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a value depends on seed, name and index, and on nothing else") {
  const RandomStream stream(7, "wte");
  const double later = stream.normal(1000);
  CHECK(stream.normal(3) == RandomStream(7, "wte").normal(3));
  CHECK(stream.normal(1000) == later);
  CHECK(stream.normal(3) != RandomStream(8, "wte").normal(3));
  CHECK(stream.normal(3) != RandomStream(7, "wpe").normal(3));
  CHECK(stream.normal(3) != stream.normal(4));
}

TEST_CASE("known values do not change: checkpoints and golden reports rest on them") {
  const RandomStream stream(1, "golden");
  CHECK(stream.bits(0) == 4647255582112851202u);
  CHECK(stream.uniform(1) == 0.44616687089577789);
  CHECK(stream.normal(2) == Approx(-0.862075470277332).epsilon(1e-14));
}

TEST_CASE("normal values have mean 0, variance 1 and the right tails") {
  const RandomStream stream(11, "moments");
  const int count = 200000;
  double sum = 0, squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < count; ++i) {
    const double x = stream.normal(static_cast<std::uint64_t>(i));
    REQUIRE(std::isfinite(x));
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2;
  }
  CHECK(std::abs(sum / count) < 0.01);
  CHECK(squares / count == Approx(1).margin(0.015));
  CHECK(static_cast<double>(beyond_two) / count == Approx(0.0455).margin(0.003));
}

TEST_CASE("below covers its range evenly") {
  const RandomStream stream(3, "dice");
  int seen[6] = {};
  for (std::uint64_t i = 0; i < 60000; ++i) ++seen[stream.below(6, i)];
  for (const int count : seen) CHECK(std::abs(count - 10000) < 500);
  CHECK(stream.below(1, 5) == 0);
}
