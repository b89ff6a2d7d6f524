// One formula of a budget sheet: arithmetic over named numbers, and nothing else.
//
//   12  1.5  2e9  names  + - * / ^  ( )  ceil(x)  floor(x)  min(x, ...)  max(x, ...)  shard(N, n,
//   r)
//
// shard(N, n, r) is how many of N elements rank r of n holds: ceil(N/n) each, while they last.
// Everything is a double: whole numbers are exact up to 2^53.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

using Values = std::map<std::string, double>;

// What is wrong with a formula, and at which byte of it. The sheet knows the line.
struct FormulaError {
  std::size_t position;
  std::string what;
};

// A summand of a formula: a*b and c of "a*b - c", whose value is negative.
struct Term {
  std::string text;  // "-c"
  double value = 0;
};

class Formula {
 public:
  struct Name {
    std::string text;
    std::size_t position;
  };

  // Errors: FormulaError when `text` is not one value written as above.
  explicit Formula(std::string text);

  const std::string& text() const { return text_; }
  const std::vector<Name>& names() const { return names_; }  // as they come, functions left out

  // Requires: all names() have values.
  // Errors: FormulaError when it divides by zero or comes to no finite number.
  double value(const Values& values) const;
  std::vector<Term> terms(const Values& values) const;

 private:
  struct Summand {
    int sign;
    std::size_t begin;
  };

  void scan();
  double compute(const std::string& part, const Values& values) const;

  std::string text_;
  std::vector<Name> names_;
  std::vector<Summand> summands_;
};

// Whether `text` can be a name of its own: letters, digits and _, and not that of a function.
bool can_be_name(std::string_view text);

}  // namespace shardlings
