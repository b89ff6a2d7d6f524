// An independent reading of a grammar: sums the probabilities of all the ways to tell a text, each
// followed byte by byte, without using that only one of them ever fits.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "data/grammar.h"

namespace shardlings {

class Predictor {
 public:
  Predictor(const Rules& rules, const std::string& root) : rules_(rules), root_('<' + root + '>') {}

  // That the text begins with `text`.
  double probability(std::string_view text) const { return probability(text, root_, {}); }

 private:
  using Memory = std::map<std::string, const Alternative*>;

  static std::pair<std::string, std::string> cut(const std::string& whole, char at) {
    const std::size_t place = whole.find(at);
    return {whole.substr(0, place), place == whole.npos ? "" : whole.substr(place + 1)};
  }

  // `plan` is what is still to be told, slots included.
  double probability(std::string_view text, const std::string& plan, const Memory& memory) const {
    std::size_t at = 0;
    for (; at < plan.size() && plan[at] != '<' && plan[at] != '{'; ++at) {
      if (at == text.size()) return 1;
      if (plan[at] != text[at]) return 0;
    }
    text.remove_prefix(at);
    if (text.empty()) return 1;
    if (at == plan.size()) return probability(text, root_, {});
    const auto [slot, rest] = cut(plan.substr(at + 1), plan[at] == '<' ? '>' : '}');
    if (plan[at] == '<') return probability_of_draw(text, slot, rest, memory);
    const auto [name, fact] = cut(slot, '.');
    const Alternative& known = *memory.at(name);
    return probability(text, (fact.empty() ? known.text : known.facts.at(fact)) + rest, memory);
  }

  double probability_of_draw(std::string_view text, const std::string& slot,
                             const std::string& rest, Memory memory) const {
    const auto [name, remembered_rule] = cut(slot, ':');
    double sum = 0, weights = 0;
    for (const Alternative& choice : rules_.at(remembered_rule.empty() ? name : remembered_rule)) {
      if (!remembered_rule.empty()) memory[name] = &choice;
      sum += choice.weight * probability(text, choice.text + rest, memory);
      weights += choice.weight;
    }
    return sum / weights;
  }

  const Rules& rules_;
  std::string root_;
};

}  // namespace shardlings
