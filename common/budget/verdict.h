// Budget against measurement: equal, close, or off by something that has a name.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "budget/evaluate.h"

namespace shardlings {

// One row in one run.
struct Comparison {
  double value = 0;              // of the formula
  double measured = 0;           // may be a fraction: a mean over ranks
  Values letters = {};           // a diagnosis is sought among these
  std::vector<Term> terms = {};  // of the formula, or none
};

// "exact", "close", or what is off, as in "4.00× too large = n: every rank still counted all of
// it": a factor or a difference is named, never the formula that would be right.
//   exact  equal up to 1e-9 or the rounding of a few operations in double: to the byte below 10^14
//   close  within 1 %
struct Verdict {
  std::string text;
  std::string hint = {};  // beside "close": the difference, where it has a name
  std::size_t where = 0;  // the run that the text is about
};

// Of a row in several runs: the worst. A diagnosis has to fit all of them (but those where one side
// is zero), so that two letters which are equal in one run are told apart by another.
// Requires: at least one run.
Verdict compare(std::span<const Comparison> runs);
Verdict compare(const Comparison& run);

// What a run measured, and the letters it ran with.
struct Configuration {
  std::string name;  // "f64, 3 ranks"
  Values letters;
  std::map<std::pair<std::string, std::string>, double> measured;  // {table, row}
};

struct JudgedRow {
  std::string table;
  std::string name;
  std::string formula;                      // "?" while it is not written
  std::optional<std::string> verdict = {};  // none while it, or a name it uses, is not written
  std::string hint = {};
  std::string configuration = {};  // the one that the verdict is about; "" when it is exact
};

// Every row that is measured: in the order of the sheet, then those that it lacks, as not written.
// A row is right when it is right in all configurations; one that does not measure it has 0 there.
// Names in [let] are judged when they are measured.
// Requires: at least one configuration.
// Errors: those of evaluate(), and Error(bad_data) for a row that no configuration measures.
std::vector<JudgedRow> judge(const Sheet& sheet, std::span<const Configuration> configurations);

}  // namespace shardlings
