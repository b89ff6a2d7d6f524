// A random text whose every byte has a known probability.
//
// A grammar is a table of rules. A rule is a list of alternatives, one of which is drawn by weight.
// The text of an alternative is said as it stands, except for
//
//   <thing>        a draw from the rule "thing"
//   <lost:thing>   a draw from the rule "thing", remembered as "lost"
//   {lost}         what was remembered as "lost", again
//   {hero.home}    the fact "home" of what was remembered as "hero"
//
// The grammar is unambiguous: the bytes so far determine every draw that produced them. For the
// literal beginnings of a rule's alternatives are prefix-free: once such a beginning has been read,
// exactly one alternative fits. The rest of it is certain (literals, things said again, facts), or
// another draw, which opens where this one was settled. So at most one draw is open at any byte,
// and with W(s) the weight of its alternatives that begin with s,
//
//   p(c | all bytes before) = W(s c) / W(s)   inside a draw that has said s so far
//                           = 1               for the one byte that may follow elsewhere.
//
// No predictor does better, on average, than the mean of -log p over the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"

namespace shardlings {

struct Alternative {
  std::string text;
  double weight = 1;
  std::map<std::string, std::string> facts = {};
};

using Rules = std::map<std::string, std::vector<Alternative>>;

class Grammar {
 public:
  // The text of this grammar: draws from the rule `root`, one after another.
  // Requires: every rule that is named exists; what is remembered has no slots of its own; the
  // literal beginnings of a rule with several alternatives are prefix-free and not empty; a draw
  // from `root` says something.
  // Errors: Error(broken) that names the rule and quotes the alternative.
  Grammar(const Rules& rules, const std::string& root);

  // Fills `bytes`, and `nats`, if not empty, with -log p of each byte but the first. Uses the
  // random values first_draw, first_draw + 1, ...: fewer than there are bytes.
  // Requires: bytes.size() >= 1; nats.size() is 0 or bytes.size() - 1.
  void fill(std::span<std::uint8_t> bytes, std::span<double> nats, const RandomStream& random,
            std::uint64_t first_draw) const;

 private:
  // What an alternative says after its beginning, piece by piece.
  struct Slot {
    int rule = -1;        // draw from it; -1: say what is remembered
    int memory = -1;      // where a draw is remembered; -1: nowhere
    std::string fact{};   // say this fact of what is remembered; "": the thing itself
    std::string after{};  // the literal up to the next slot
  };
  struct Choice {
    std::string beginning;     // the literal up to the first slot
    std::vector<double> nats;  // -log p of each byte of the beginning
    std::vector<Slot> slots;
    std::map<std::string, std::string> facts;
    double weight = 1;
    double cumulative = 1;  // probability of this choice and those before it in the rule
  };
  using Rule = std::vector<Choice>;  // in the order of the beginnings
  class Parser;
  class Teller;

  static void price(std::span<Choice> choices, std::size_t depth, const std::string& rule);

  std::vector<Rule> rules_;
  int root_ = 0;
  int memories_ = 0;
};

}  // namespace shardlings
