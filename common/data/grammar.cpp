#include "data/grammar.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace shardlings {

// Turns the names in the texts of a grammar into indices.
class Grammar::Parser {
 public:
  explicit Parser(const Rules& rules) : rules_(rules) {}

  int rule_index(const std::string& name) const {
    const auto found = rules_.find(name);
    CHECK(found != rules_.end(), "there is no rule \"{}\"", name);
    return static_cast<int>(std::distance(rules_.begin(), found));
  }

  int memories() const { return static_cast<int>(memory_index_.size()); }

  Choice parse(const Alternative& alternative) {
    std::string_view text = alternative.text;
    const auto take_until = [&text](std::string_view ends) {
      const std::string taken(text.substr(0, text.find_first_of(ends)));
      text.remove_prefix(taken.size());
      return taken;
    };
    Choice choice;
    choice.beginning = take_until("<{");
    choice.nats.assign(choice.beginning.size(), 0);
    choice.facts = alternative.facts;
    choice.weight = alternative.weight;
    while (!text.empty()) {
      const bool draws = text.front() == '<';
      const std::string inside = take_until(">}").substr(1);
      CHECK(!text.empty(), "\"{}\": a slot does not end", alternative.text);
      text.remove_prefix(1);
      choice.slots.push_back(draws ? parse_draw(inside) : parse_memory(inside));
      choice.slots.back().after = take_until("<{");
    }
    return choice;
  }

 private:
  // "thing" or "lost:thing".
  Slot parse_draw(const std::string& inside) {
    const std::size_t colon = inside.find(':');
    if (colon == std::string::npos) return {.rule = rule_index(inside)};
    const std::string rule = inside.substr(colon + 1);
    const Slot slot{.rule = rule_index(rule), .memory = memory_index(inside.substr(0, colon))};
    for (const Alternative& alternative : rules_.at(rule))
      CHECK(alternative.text.find_first_of("<{") == std::string::npos,
            "<{}>: \"{}\" has slots and cannot be remembered", inside, alternative.text);
    return slot;
  }

  // "lost" or "hero.home".
  Slot parse_memory(const std::string& inside) {
    const std::size_t dot = std::min(inside.find('.'), inside.size());
    Slot slot{.memory = memory_index(inside.substr(0, dot))};
    if (dot < inside.size()) slot.fact = inside.substr(dot + 1);
    return slot;
  }

  int memory_index(const std::string& name) {
    return memory_index_.emplace(name, memories()).first->second;
  }

  const Rules& rules_;
  std::map<std::string, int> memory_index_;
};

// Writes nats[depth] and what follows it for choices whose beginnings agree on `depth` bytes.
void Grammar::price(std::span<Choice> choices, std::size_t depth, const std::string& rule) {
  if (choices.size() == 1) return;  // nothing is left to decide
  CHECK(choices[0].beginning.size() > depth, "rule \"{}\": \"{}\" also begins \"{}\"", rule,
        choices[0].beginning, choices[1].beginning);
  const auto weight_of = [](std::span<const Choice> some) {
    double weight = 0;
    for (const Choice& choice : some) weight += choice.weight;
    return weight;
  };
  const double all = weight_of(choices);
  while (!choices.empty()) {
    const char byte = choices[0].beginning[depth];
    const auto other = std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) {
      return choice.beginning[depth] != byte;
    });
    const auto same = choices.first(static_cast<std::size_t>(other - choices.begin()));
    const double nats = std::log(all / weight_of(same));
    for (Choice& choice : same) choice.nats[depth] = nats;
    price(same, depth + 1, rule);
    choices = choices.subspan(same.size());
  }
}

Grammar::Grammar(const Rules& rules, const std::string& root) {
  Parser parser(rules);
  root_ = parser.rule_index(root);
  for (const auto& [name, alternatives] : rules) {
    CHECK(!alternatives.empty(), "rule \"{}\" has no alternatives", name);
    Rule rule;
    for (const Alternative& alternative : alternatives) {
      CHECK(alternative.weight > 0, "rule \"{}\": \"{}\" has weight {}", name, alternative.text,
            alternative.weight);
      rule.push_back(parser.parse(alternative));
    }
    std::ranges::sort(rule, {}, &Choice::beginning);
    price(rule, 0, name);
    double sum = 0;
    for (Choice& choice : rule) choice.cumulative = sum += choice.weight;
    for (Choice& choice : rule) choice.cumulative /= sum;
    rules_.push_back(std::move(rule));
  }
  memories_ = parser.memories();
}

// One text in the making.
class Grammar::Teller {
 public:
  Teller(const Grammar& grammar, std::span<std::uint8_t> bytes, std::span<double> nats,
         const RandomStream& random, std::uint64_t first_draw)
      : grammar_(grammar), bytes_(bytes), nats_(nats), random_(random), next_draw_(first_draw) {}

  bool full() const { return filled_ == bytes_.size(); }

  void forget() { remembered_.assign(static_cast<std::size_t>(grammar_.memories_), nullptr); }

  void tell(const Slot& slot) {
    if (slot.rule < 0) {
      say(recall(slot), {});
    } else {
      const Choice& choice = draw(grammar_.rules_[static_cast<std::size_t>(slot.rule)]);
      if (slot.memory >= 0) remembered_[static_cast<std::size_t>(slot.memory)] = &choice;
      say(choice.beginning, choice.nats);
      for (std::size_t i = 0; i < choice.slots.size() && !full(); ++i) tell(choice.slots[i]);
    }
    say(slot.after, {});
  }

 private:
  const Choice& draw(const Rule& rule) {
    if (rule.size() == 1) return rule[0];
    return *std::ranges::upper_bound(rule, random_.uniform(next_draw_++), {}, &Choice::cumulative);
  }

  const std::string& recall(const Slot& slot) const {
    const Choice* choice = remembered_[static_cast<std::size_t>(slot.memory)];
    CHECK(choice != nullptr, "the grammar says something again that it has not drawn before");
    if (slot.fact.empty()) return choice->beginning;
    const auto fact = choice->facts.find(slot.fact);
    CHECK(fact != choice->facts.end(), "\"{}\" has no fact \"{}\"", choice->beginning, slot.fact);
    return fact->second;
  }

  // What is certain comes without nats.
  void say(std::string_view text, std::span<const double> nats) {
    for (std::size_t i = 0; i < text.size() && !full(); ++i) {
      bytes_[filled_] = static_cast<std::uint8_t>(text[i]);
      if (filled_ > 0 && !nats_.empty()) nats_[filled_ - 1] = nats.empty() ? 0 : nats[i];
      ++filled_;
    }
  }

  const Grammar& grammar_;
  std::span<std::uint8_t> bytes_;
  std::span<double> nats_;
  const RandomStream& random_;
  std::uint64_t next_draw_;
  std::size_t filled_ = 0;
  std::vector<const Choice*> remembered_;
};

void Grammar::fill(std::span<std::uint8_t> bytes, std::span<double> nats,
                   const RandomStream& random, std::uint64_t first_draw) const {
  CHECK(nats.empty() || nats.size() + 1 == bytes.size(), "{} nats for {} bytes", nats.size(),
        bytes.size());
  Teller teller(*this, bytes, nats, random, first_draw);
  const Slot story{.rule = root_};
  while (!teller.full()) {
    teller.forget();
    teller.tell(story);
  }
}

}  // namespace shardlings
