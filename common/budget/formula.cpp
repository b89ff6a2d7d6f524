#include "budget/formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/suggest.h"

namespace shardlings {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameLetters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
constexpr std::array<std::string_view, 5> kFunctions{"ceil", "floor", "max", "min", "shard"};

bool is_function(std::string_view name) {
  return std::ranges::find(kFunctions, name) != kFunctions.end();
}

bool begins_name(char c) {
  return kNameLetters.find(c) != std::string_view::npos &&
         kDigits.find(c) == std::string_view::npos;
}

double smallest(const double* x, int count) {
  return *std::min_element(x, x + count);
}
double largest(const double* x, int count) {
  return *std::max_element(x, x + count);
}
double shard(double N, double n, double r) {
  const bool whole = std::trunc(N) == N && std::trunc(n) == n && std::trunc(r) == r;
  if (!whole || N < 0 || r < 0 || r >= n) return std::numeric_limits<double>::quiet_NaN();
  const double each = std::ceil(N / n);
  return std::clamp(N - r * each, 0.0, each);
}

// The character of UTF-8 text that begins at `position`.
std::string_view character(std::string_view text, std::size_t position) {
  std::size_t end = position + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return text.substr(position, end - position);
}

std::size_t end_of_number(const std::string& text, std::size_t position) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data() + position, text.data() + text.size(), number);
  const auto length = static_cast<std::size_t>(end - text.data()) - position;
  if (error == std::errc::invalid_argument)
    throw FormulaError{position, "\".\" stands only inside a number"};
  if (error != std::errc{})
    throw FormulaError{position, fmt::format("{} is beyond what a double can hold",
                                             text.substr(position, length))};
  return position + length;
}

// "flor(x)"; what is no function's name is a name before a bracket, and lacks an operator.
void refuse_misspelt_function(const std::string& text, const Formula::Name& name) {
  const std::size_t next = text.find_first_not_of(" \t", name.position + name.text.size());
  const std::string likely = nearest(name.text, kFunctions);
  if (next != std::string::npos && text[next] == '(' && !likely.empty())
    throw FormulaError{name.position,
                       fmt::format("unknown function {:?}; did you mean {}?", name.text, likely)};
}

// muParser's own messages name positions in the formula, which mean nothing in a sheet.
std::string explain(const mu::ParserError& error) {
  const std::string& token = error.GetToken();
  switch (error.GetCode()) {
    case mu::ecEMPTY_EXPRESSION:
      return "the formula is empty; \"?\" stands for one that is not written yet";
    case mu::ecUNEXPECTED_EOF:
      return "the formula ends where a value is expected";
    case mu::ecTOO_FEW_PARAMS:
      return fmt::format("{} takes more values than this", token);
    case mu::ecTOO_MANY_PARAMS:
      return fmt::format("{} takes fewer values than this", token);
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return fmt::format("an operator is missing before \"{}\"", token);
    case mu::ecUNEXPECTED_PARENS:
      if (token == "(") return "an operator is missing before \"(\"";
      [[fallthrough]];
    default:
      return token.empty() ? error.GetMsg() : fmt::format("\"{}\" cannot stand here", token);
  }
}

}  // namespace

bool can_be_name(std::string_view text) {
  return !text.empty() && begins_name(text.front()) && !is_function(text) &&
         text.find_first_not_of(kNameLetters) == std::string_view::npos;
}

Formula::Formula(std::string text) : text_(std::move(text)) {
  scan();
  Values ones;
  for (const Name& name : names_) ones[name.text] = 1;
  compute(text_, ones);  // for its grammar alone
}

// Finds names and summands, and refuses what muParser would take: assignments, comparisons,
// strings, several values. What it leaves to muParser is the order of the tokens.
void Formula::scan() {
  struct Bracket {
    std::size_t position;
    bool of_function;
  };
  std::vector<Bracket> open;
  bool after_function = false, after_value = false;
  summands_.push_back({1, 0});
  for (std::size_t at = 0; at < text_.size();) {
    const char c = text_[at];
    if (c == ' ' || c == '\t') {
      ++at;
    } else if (begins_name(c)) {
      const std::string name = text_.substr(at, text_.find_first_not_of(kNameLetters, at) - at);
      after_function = is_function(name);
      after_value = !after_function;
      if (after_value) names_.push_back({name, at});
      at += name.size();
      if (after_value) refuse_misspelt_function(text_, names_.back());
    } else if (c == '.' || kDigits.find(c) != std::string_view::npos) {
      at = end_of_number(text_, at);
      after_value = true;
    } else {
      if (std::string_view("+-*/^(),").find(c) == std::string_view::npos)
        throw FormulaError{at, fmt::format("\"{}\" has no place in a formula, which is made of "
                                           "numbers, names, + - * / ^ ( ) and {}",
                                           character(text_, at), fmt::join(kFunctions, " "))};
      if (c == ',' && (open.empty() || !open.back().of_function))
        throw FormulaError{at,
                           "\",\" stands only between the values that a function takes; "
                           "a formula is one value, and a decimal is written 1.5"};
      if ((c == '+' || c == '-') && open.empty() && after_value)
        summands_.push_back({c == '-' ? -1 : 1, at + 1});
      if (c == '(') open.push_back({at, after_function});
      if (c == ')' && !open.empty()) open.pop_back();
      after_function = false;
      after_value = c == ')';
      ++at;
    }
  }
  if (!open.empty()) throw FormulaError{open.back().position, "\"(\" is never closed"};
}

double Formula::value(const Values& values) const {
  std::feclearexcept(FE_ALL_EXCEPT);
  const double result = compute(text_, values);
  // The flags also tell of what min(1/0, 5) and 1/(1/0) hide.
  if (std::fetestexcept(FE_DIVBYZERO) != 0) throw FormulaError{0, "divides by zero"};
  if (!std::isfinite(result) || std::fetestexcept(FE_INVALID | FE_OVERFLOW) != 0)
    throw FormulaError{0, "comes to no finite number"};
  return result;
}

std::vector<Term> Formula::terms(const Values& values) const {
  std::vector<Term> terms;
  for (std::size_t i = 0; i < summands_.size(); ++i) {
    const auto [sign, begin] = summands_[i];
    const std::size_t end = i + 1 < summands_.size() ? summands_[i + 1].begin - 1 : text_.size();
    std::string part = text_.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(" \t"));
    part.erase(part.find_last_not_of(" \t") + 1);
    terms.push_back({(sign < 0 ? "-" : "") + part, sign * compute(part, values)});
  }
  return terms;
}

// The names become constants, so that nothing can change them. muParser reads numbers in a locale
// of its own, with a decimal point.
double Formula::compute(const std::string& part, const Values& values) const {
  try {
    mu::Parser parser;
    parser.ClearFun();
    parser.DefineFun("ceil", static_cast<double (*)(double)>(std::ceil));
    parser.DefineFun("floor", static_cast<double (*)(double)>(std::floor));
    parser.DefineFun("min", smallest);
    parser.DefineFun("max", largest);
    parser.DefineFun("shard", shard);
    for (const Name& name : names_) {
      const auto found = values.find(name.text);
      CHECK(found != values.end(), "{} is used in \"{}\" and has no value", name.text, text_);
      parser.DefineConst(name.text, found->second);
    }
    parser.SetExpr(part);
    return parser.Eval();
  } catch (const mu::ParserError& error) {
    const auto position = static_cast<std::size_t>(std::max(error.GetPos(), 0));
    throw FormulaError{std::min(position, text_.size()), explain(error)};
  }
}

}  // namespace shardlings
