#include "data/grammar.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "data/story_rules.h"
#include "tests/common/data/predictor.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Names that begin alike, uneven weights, a fact, a thing said again, a draw inside a draw, and an
// alternative that begins with a slot.
const Rules kSmall = {
    {"story", {{"<hero:name><deed>.\n"}}},
    {"name",
     {{"Ann ", 5, {{"home", "Ur"}}},
      {"Anna ", 2, {{"home", "Rome"}}},
      {"Bo ", 1, {{"home", "Ur"}}}}},
    {"deed",
     {{"lost a <lost:thing>, <again>", 2},
      {"lives in {hero.home}", 3},
      {"likes <lost:thing>s: <again>"}}},
    {"thing", {{"pen"}, {"pan"}, {"kite", 0.5}}},
    {"again", {{"no {lost}"}, {"not in {hero.home}, <lost:thing>"}}},
};

std::string text_of(const Grammar& grammar, std::vector<double>& nats, std::size_t T,
                    std::uint64_t first_draw) {
  std::vector<std::uint8_t> bytes(T + 1);
  nats.assign(T, -1);
  grammar.fill(bytes, nats, RandomStream(1, "grammar test"), first_draw);
  return {bytes.begin(), bytes.end()};
}

void compare_with_predictor(const Rules& rules, std::size_t T, std::uint64_t samples) {
  const Grammar grammar(rules, "story");
  const Predictor predictor(rules, "story");
  std::vector<double> nats;
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    const std::string text = text_of(grammar, nats, T, sample << 32);
    INFO(text);
    double before = predictor.probability(text.substr(0, 1));
    for (std::size_t t = 0; t < T; ++t) {
      const double now = predictor.probability(text.substr(0, t + 2));
      INFO("byte " << t + 1);
      REQUIRE(nats[t] == Approx(std::log(before / now)).margin(1e-9));
      before = now;
    }
  }
}

}  // namespace

TEST_CASE("each byte costs what the sum over all ways to tell the text says") {
  compare_with_predictor(kSmall, 60, 100);
}

TEST_CASE("and so it does in the stories themselves") {
  compare_with_predictor(story_rules(7), 200, 3);
}

TEST_CASE("the probabilities of the next byte sum to 1") {
  const Grammar grammar(kSmall, "story");
  const Predictor predictor(kSmall, "story");
  std::vector<double> nats;
  for (std::uint64_t sample = 0; sample < 10; ++sample) {
    const std::string text = text_of(grammar, nats, 40, sample << 32);
    for (std::size_t length = 0; length < text.size(); ++length) {
      double sum = 0;
      for (int byte = 0; byte < 256; ++byte)
        sum += predictor.probability(text.substr(0, length) + static_cast<char>(byte));
      REQUIRE(sum == Approx(predictor.probability(text.substr(0, length))).epsilon(1e-12));
    }
  }
}

TEST_CASE("alternatives come as often as their weights say") {
  const Grammar grammar({{"letter", {{"c", 1}, {"a", 5}, {"b", 2}}}}, "letter");
  std::vector<double> nats;
  const std::string text = text_of(grammar, nats, 80000 - 1, 0);
  CHECK(std::abs(std::count(text.begin(), text.end(), 'a') - 50000) < 500);
  CHECK(std::abs(std::count(text.begin(), text.end(), 'b') - 20000) < 500);
}

TEST_CASE("what is ambiguous or undefined is refused") {
  const auto refused = [](const Rules& rules) { CHECK_THROWS_AS(Grammar(rules, "story"), Error); };
  refused({{"story", {{"Ann"}, {"Anna"}}}});
  refused({{"story", {{"Ann"}, {"Ann"}}}});
  refused({{"story", {{"A <x>b"}, {"A c"}}}, {"x", {{"d"}}}});
  refused({{"story", {{"<x>b"}, {"c"}}}, {"x", {{"d"}}}});
  refused({{"story", {{""}, {"c"}}}});
  refused({{"story", {{"a", 0}}}});
  refused({{"story", {}}});
  refused({{"story", {{"a <nobody>"}}}});
  refused({{"story", {{"a <b"}}}});
  refused({{"story", {{"a <b:c>"}}}, {"c", {{"d <e>"}}}, {"e", {{"f"}}}});
  refused({{"tale", {{"a"}}}});
  CHECK_THROWS_WITH(Grammar({{"story", {{"Anna"}, {"Ann"}}}}, "story"),
                    Catch::Matchers::StartsWith("rule \"story\": \"Ann\" also begins \"Anna\""));
}

TEST_CASE("what was never drawn cannot be said again") {
  std::vector<double> nats;
  CHECK_THROWS_AS(
      text_of(Grammar({{"story", {{"a {b}"}, {"c <b:d>"}}}, {"d", {{"e"}}}}, "story"), nats, 99, 0),
      Error);
}
