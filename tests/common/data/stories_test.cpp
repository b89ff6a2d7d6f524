#include "data/stories.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "data/story_rules.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

struct Sample {
  std::string text;
  std::vector<double> nats;

  bool operator==(const Sample&) const = default;
};

Sample sample(const Stories& stories, Split split, std::uint64_t index, std::size_t T) {
  std::vector<std::uint8_t> bytes(T + 1);
  std::vector<double> nats(T, -1);
  stories.sample(split, index, bytes, nats);
  return {{bytes.begin(), bytes.end()}, nats};
}

// Half a megabyte, some three thousand stories, one a line.
const std::vector<std::string>& many_stories() {
  static const std::vector<std::string> stories = [] {
    const std::string text = sample(Stories(1), Split::train, 0, 500000).text;
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find("\n\n", begin)) != std::string::npos; begin = end + 2)
      lines.push_back(text.substr(begin, end - begin));
    return lines;
  }();
  return stories;
}

}  // namespace

TEST_CASE("a sample is a pure function of seed, split and index") {
  const Stories stories(1);
  const Sample five = sample(stories, Split::train, 5, 128);
  sample(stories, Split::held_out, 9, 300);
  CHECK(sample(stories, Split::train, 5, 128) == five);
  CHECK(sample(Stories(1), Split::train, 5, 128) == five);
  CHECK(sample(stories, Split::train, 6, 128).text != five.text);
  CHECK(sample(stories, Split::held_out, 5, 128).text != five.text);
  CHECK(sample(Stories(2), Split::train, 5, 128).text != five.text);
}

TEST_CASE("a sample of any length begins with the same story") {
  const Stories stories(1);
  const Sample whole = sample(stories, Split::train, 3, 400);
  for (const std::size_t T : {1, 2, 37, 128, 399}) {
    const Sample part = sample(stories, Split::train, 3, T);
    CHECK(part.text == whole.text.substr(0, T + 1));
    CHECK(std::equal(part.nats.begin(), part.nats.end(), whole.nats.begin()));
  }
  std::vector<std::uint8_t> bytes(38);
  stories.sample(Split::train, 3, bytes, {});
  CHECK(std::string(bytes.begin(), bytes.end()) == whole.text.substr(0, 38));
}

TEST_CASE("neighbouring samples have nothing to do with each other") {
  const Stories stories(1);
  const double count = 4000;
  double friends = 0, early = 0, both = 0;  // two properties that one draw each decides
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::string text = sample(stories, Split::train, i, 60).text;
    const bool tells_of_friends = text.find(" are friends.") != std::string::npos;
    const bool next_is_early = sample(stories, Split::train, i + 1, 1).text[0] <= 'E';
    friends += tells_of_friends;
    early += next_is_early;
    both += tells_of_friends && next_is_early;
  }
  CHECK((friends > 500 && early > 500));
  CHECK(both == Approx(friends * early / count).margin(4 * std::sqrt(friends * early / count)));
}

TEST_CASE("held-out stories are not among the training stories") {
  const Stories stories(1);
  std::set<std::string> trained;
  for (std::uint64_t i = 0; i < 2000; ++i)
    trained.insert(sample(stories, Split::train, i, 90).text);
  CHECK(trained.size() == 2000);
  for (std::uint64_t i = 0; i < 2000; ++i)
    REQUIRE(trained.count(sample(stories, Split::held_out, i, 90).text) == 0);
}

TEST_CASE("a story is three sentences of plain English on one line") {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view(" .,:!\"").find(c) < 6;
  };
  CHECK(many_stories().size() > 2500);
  for (const std::string& story : many_stories()) {
    INFO(story);
    REQUIRE(std::all_of(story.begin(), story.end(), is_plain));
    REQUIRE(std::isupper(static_cast<unsigned char>(story[0])));
    REQUIRE(std::count(story.begin(), story.end(), '.') == 3);
    REQUIRE(story.back() == '.');
    REQUIRE(story.find("  ") == std::string::npos);
    REQUIRE((story.size() > 60 && story.size() < 300));
  }
}

TEST_CASE("facts stay true, whenever they are told") {
  std::map<std::string, std::string> home;
  int again = 0;
  for (const std::string& story : many_stories()) {
    const std::string_view lives = " lives in ";
    const std::size_t place = story.find(lives);
    if (place == std::string::npos) continue;
    const std::string town =
        story.substr(place + lives.size(), story.find('.') - place - lives.size());
    const auto [known, is_new] = home.emplace(story.substr(0, place), town);
    REQUIRE(known->second == town);
    again += !is_new;
  }
  CHECK(home.size() > 100);
  CHECK(again > 100);
}

TEST_CASE("the sums are right") {
  int sums = 0;
  for (const std::string& story : many_stories()) {
    const std::size_t place = story.find("collected ");
    if (place == std::string::npos) continue;
    int all = 0, given = 0, kept = 0;
    INFO(story);
    REQUIRE(std::sscanf(&story[place], "collected %d %*[a-z], gave %d to %*s and kept %d", &all,
                        &given, &kept) == 3);
    REQUIRE(all == given + kept);
    ++sums;
  }
  CHECK(sums > 30);
}

TEST_CASE("fame follows Zipf's law, and differs from seed to seed") {
  const Rules rules = story_rules(1);
  const std::vector<Alternative>& people = rules.at("person");
  CHECK(people.size() > 5000);
  CHECK(people[0].weight == 10 * people[9].weight);
  CHECK(people[0].text != story_rules(2).at("person")[0].text);
  for (const Alternative& person : people)
    REQUIRE(person.facts.at("friend").find(person.facts.at("friend_first")) == 0);
}

TEST_CASE("the floor is far below the letters' entropy and far above 0") {
  const Stories stories(1);
  for (const std::size_t T : {64, 128, 256}) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const Sample one = sample(stories, Split::held_out, i, T);
      sum = std::accumulate(one.nats.begin(), one.nats.end(), sum);
      REQUIRE(std::all_of(one.nats.begin(), one.nats.end(), [](double x) { return x >= 0; }));
    }
    CHECK(sum / 1000 / static_cast<double>(T) == Approx(0.33).margin(0.05));
  }
}

TEST_CASE("samples beyond the random streams are refused") {
  std::vector<std::uint8_t> bytes(9);
  CHECK_NOTHROW(Stories(1).sample(Split::train, (std::uint64_t{1} << 40) - 1, bytes, {}));
  CHECK_THROWS_AS(Stories(1).sample(Split::train, std::uint64_t{1} << 40, bytes, {}), Error);
}
