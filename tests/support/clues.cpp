#include "tests/support/clues.h"

#include <fmt/format.h>

#include <numeric>

namespace shardlings {

namespace {

using Values = std::vector<double>;

// What a power of a letter usually means. The first that fits is named.
struct Factor {
  const char* letter;
  double power;
  const char* too_large;
  const char* too_small;
};

constexpr Factor kFactors[] = {
    {"n", 1, "added up over ranks that each hold all of it",
     "divided by the number of ranks once too often, or one rank's part alone"},
    {"M", 1, "added up over micro-batches where their mean was meant",
     "divided by the number of micro-batches once too often, or one of them alone"},
    {"tokens", 1, "a sum over tokens where their mean was meant",
     "divided by the number of tokens once too often"},
    {"n", 0.5, "a norm in which each rank's copy counts", "a norm over one rank's share"},
    {"M", 0.5, "a norm in which each micro-batch counts", "a norm over one micro-batch"},
    {"n", 2, "added up over the ranks twice", "divided by the number of ranks twice"},
    {"elements", 1, "a sum over elements where their mean was meant",
     "a mean over elements where their sum was meant"},
    {"elements", 0.5, "a sum of squares where their mean was meant",
     "a mean of squares where their sum was meant"},
    {"tensors", 1, "added up once per tensor", "shared out among the tensors"},
    {"tensors", 0.5, "each tensor was treated as if it were alone", "shared out among the tensors"},
    {"2", 1, "counted twice", "one of two parts is missing"},
};

Values flat(const NamedValues& named) {
  Values all;
  for (const auto& [name, values] : named) all.insert(all.end(), values.begin(), values.end());
  return all;
}

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// a = factor * b, up to a share of the largest element.
bool is_multiple(const Values& a, double factor, const Values& b, double share) {
  if (a.size() != b.size()) return false;
  const double allowed = share * std::abs(factor) * largest(b);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - factor * b[i]) <= allowed)) return false;
  return true;
}

constexpr double kSame = 1e-4;    // for results of known mistakes
constexpr double kFactor = 1e-3;  // for factors

// "2.236" and, where it has a name, " = sqrt(tensors)" with its meaning.
Likeness name_of_ratio(double ratio, const std::map<std::string, double>& letters) {
  const std::string digits = fmt::format("{:.4g}", ratio);
  if (std::abs(ratio + 1) < kFactor) return {digits, "the sign is turned around"};
  for (const auto& [letter, power, too_large, too_small] : kFactors) {
    const auto found = letters.find(letter);
    if (found == letters.end() && letter != std::string_view("2")) continue;
    const double size = std::pow(found == letters.end() ? 2 : found->second, power);
    if (std::abs(size - 1) < kFactor) continue;
    const std::string name = power == 1     ? letter
                             : power == 0.5 ? fmt::format("sqrt({})", letter)
                                            : fmt::format("{}^{}", letter, power);
    if (std::abs(ratio / size - 1) < kFactor) return {digits + " = " + name, too_large};
    if (std::abs(ratio * size - 1) < kFactor) return {digits + " = 1/" + name, too_small};
  }
  return {digits, ""};
}

// "the bias, 2 times too often", "the bias is missing", "ln n too much".
std::string name_of_difference(const Values& difference, const Clues& clues) {
  for (const auto& [meaning, named] : clues.differs_by) {
    const Values part = flat(named);
    const double times = dot(difference, part) / dot(part, part);
    if (!is_multiple(difference, times, part, kFactor)) continue;
    if (std::abs(times - 1) < kFactor) return meaning + " is in it once too often";
    if (std::abs(times + 1) < kFactor) return meaning + " is missing";
    return fmt::format("{} is in it {:.4g} times too {}", meaning, std::abs(times),
                       times > 0 ? "often" : "rarely");
  }
  for (const auto& [letter, size] : clues.letters)
    if (size > 1 && is_multiple(difference, std::log(size), Values(difference.size(), 1), kFactor))
      return fmt::format("ln {} = {:.4f} too much: a softmax's sum has its terms {} times", letter,
                         std::log(size), letter);
  return "";
}

bool is_permutation_of(Values a, Values b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a.size() > 1 && is_multiple(a, 1, b, kSame);
}

}  // namespace

Likeness likeness(const NamedValues& measured, const NamedValues& expected, const Clues& clues) {
  const Values got = flat(measured), right = flat(expected);
  const double ratio = dot(got, right) / dot(right, right);
  const bool is_one_factor = is_multiple(got, ratio, right, kFactor);
  const Likeness factor = is_one_factor ? name_of_ratio(ratio, clues.letters) : Likeness{"", ""};
  if (is_multiple(got, 1, right, kSame))
    return {"", "close, but by more than rounding: a less precise sum, or a small term"};
  for (const auto& [meaning, values] : clues.equal_to)
    if (is_multiple(got, 1, flat(values), kSame)) return {factor.ratio, "it equals " + meaning};
  if (std::ranges::any_of(got, [](double value) { return std::isnan(value); }))
    return {"",
            "not a number: zero by zero, infinity less infinity, or memory before it is written"};
  if (std::ranges::any_of(got, [](double value) { return std::isinf(value); }))
    return {"", "infinity: too large for its type, or a number divided by zero"};
  if (largest(right) == 0) return {"", ""};
  if (largest(got) == 0) return {"", "all of it is 0: nothing is left, or nothing arrived"};
  if (is_permutation_of(got, right)) return {"", "these are the right values in another order"};
  if (!factor.suggests.empty()) return factor;

  Values difference(got.size());
  for (std::size_t i = 0; i < got.size(); ++i) difference[i] = got[i] - right[i];
  if (const std::string name = name_of_difference(difference, clues); !name.empty())
    return {factor.ratio, name};
  if (is_one_factor || got.size() == 1) return factor;
  return {"", fmt::format("not one factor for all elements: the direction changed, cosine {:.4f}",
                          dot(got, right) / std::sqrt(dot(got, got) * dot(right, right)))};
}

}  // namespace shardlings
