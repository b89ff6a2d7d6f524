// What a wrong result looks like: a right one times something that has a name, plus something that
// has a name, in another order, or the result of a known mistake.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/compare.h"

namespace shardlings {

// Values that a wrong result may equal or contain.
struct Clue {
  std::string meaning;  // "the last micro-batch alone"
  NamedValues values;
};

// What is known about a case, besides its right result.
struct Clues {
  std::map<std::string, double> letters = {};  // n, M, tokens: a factor is sought among these
  std::vector<Clue> equal_to = {};             // results of known mistakes
  std::vector<Clue> differs_by = {};           // parts: there once too often, or missing
};

struct Likeness {
  std::string
      ratio;  // "2.236 = sqrt(tensors)"; "" when no single factor leads from one to the other
  std::string suggests;  // "" when it looks like nothing known
};

// What `measured` looks like beside `expected`. The first that fits is named: a known mistake,
// another order, a factor, a difference, nothing at all, another direction. It never says what to
// do about it.
// Requires: the same tensors of the same sizes.
Likeness likeness(const NamedValues& measured, const NamedValues& expected, const Clues& clues);

}  // namespace shardlings
