#include "base/suggest.h"

#include <array>

#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("a misspelt name finds its neighbour, and nonsense finds none") {
  static constexpr std::array<std::string_view, 4> kNames{"--steps", "--seed", "--text", "kjv"};
  CHECK(nearest("--stpes", kNames) == "--steps");  // swapped
  CHECK(nearest("--step", kNames) == "--steps");   // dropped
  CHECK(nearest("--texts", kNames) == "--text");   // inserted
  CHECK(nearest("--sead", kNames) == "--seed");    // replaced
  CHECK(nearest("kvj", kNames) == "kjv");
  CHECK(nearest("kjv", kNames) == "kjv");
  CHECK(nearest("--backend", kNames).empty());
  CHECK(nearest("abc", kNames).empty());
  CHECK(nearest("", kNames).empty());
  CHECK(nearest("kjv", {}).empty());
}

TEST_CASE("of equally near names the first wins") {
  static constexpr std::array<std::string_view, 2> kNames{"bat", "cat"};
  CHECK(nearest("rat", kNames) == "bat");
}
