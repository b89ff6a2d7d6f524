#include "data/entropies.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "base/random.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

Entropies entropies_of(std::string_view text) {
  return entropies({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// The mean of -log p(next | context), one byte after another.
double by_hand(std::string_view text, std::size_t order) {
  std::map<std::string_view, double> seen, followed;
  for (std::size_t i = order; i < text.size(); ++i) {
    ++followed[text.substr(i - order, order + 1)];
    ++seen[text.substr(i - order, order)];
  }
  double sum = 0;
  for (std::size_t i = order; i < text.size(); ++i)
    sum -=
        std::log(followed[text.substr(i - order, order + 1)] / seen[text.substr(i - order, order)]);
  return sum / static_cast<double>(text.size() - order);
}

}  // namespace

TEST_CASE("entropies of texts that can be done in the head") {
  const auto near = [](double expected) { return Approx(expected).margin(1e-12); };
  CHECK(entropies_of("aaaaaaa").unigram == near(0));
  CHECK(entropies_of("abababab").unigram == near(std::log(2)));
  CHECK(entropies_of("abababab").bigram == near(0));
  // Of eight pairs, four begin with a and four with b, each followed by a or b as often; a third
  // byte follows from the two before it.
  CHECK(entropies_of("aabbaabba").bigram == near(std::log(2)));
  CHECK(entropies_of("aabbaabba").trigram == near(0));
}

TEST_CASE("entropies agree with counting one byte after another") {
  const RandomStream random(1, "entropies");
  std::string text;
  for (std::uint64_t i = 0; i < 500; ++i)
    text += static_cast<char>(random.below(i % 3 == 0 ? 256 : 3, i));
  for (std::size_t length = 3; length <= text.size(); length = length * 5 / 4 + 1) {
    const std::string_view part = std::string_view(text).substr(0, length);
    const Entropies known = entropies_of(part);
    CHECK(known.unigram == Approx(by_hand(part, 0)).margin(1e-12));
    CHECK(known.bigram == Approx(by_hand(part, 1)).margin(1e-12));
    CHECK(known.trigram == Approx(by_hand(part, 2)).margin(1e-12));
  }
}

TEST_CASE("too few bytes to count") {
  for (const char* text : {"", "a", "ab"}) {
    const Entropies known = entropies_of(text);
    CHECK(known.trigram == 0);
    CHECK(std::abs(known.bigram) < 1e-12);
    CHECK(known.unigram ==
          Approx(std::string_view(text).size() == 2 ? std::log(2) : 0).margin(1e-12));
  }
}
