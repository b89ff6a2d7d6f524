// The course's metric for comparing named tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"

namespace shardlings {

using NamedValues = std::map<std::string, std::vector<double>>;

inline double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// An element that is off by more than was allowed.
struct Mismatch {
  std::string name;
  std::size_t index;
  double expected, got, allowed;
};

// The worst element that violates max|got - expected| <= tolerance * max(max|expected|, floor) of
// its tensor. NaN always does. Requires: the same tensors of the same sizes.
inline std::optional<Mismatch> worst_mismatch(const NamedValues& got, const NamedValues& expected,
                                              double tolerance, double floor) {
  std::optional<Mismatch> worst;
  double worst_excess = 0;
  for (const auto& [name, right] : expected) {
    const std::vector<double>& values = got.at(name);
    const double allowed = tolerance * std::max(largest(right), floor);
    for (std::size_t i = 0; i < right.size(); ++i) {
      const double off = std::abs(values[i] - right[i]);
      if (off <= allowed) continue;
      const double excess = off > allowed ? off / allowed : std::numeric_limits<double>::max();
      if (excess <= worst_excess) continue;
      worst_excess = excess;
      worst = {name, i, right[i], values[i], allowed};
    }
  }
  return worst;
}

// Empty when nothing mismatches; otherwise one line on the worst. Missing tensors never pass.
inline std::string difference(const NamedValues& got, const NamedValues& expected, double tolerance,
                              double floor) {
  for (const auto& [name, right] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) return name + " is missing";
    if (found->second.size() != right.size())
      return fmt::format("{}: {} values, {} expected", name, found->second.size(), right.size());
  }
  const std::optional<Mismatch> worst = worst_mismatch(got, expected, tolerance, floor);
  if (!worst) return "";
  return fmt::format("{}[{}]: expected {:.12g}, got {:.12g}; off by {:.3g}, allowed {:.3g}",
                     worst->name, worst->index, worst->expected, worst->got,
                     std::abs(worst->got - worst->expected), worst->allowed);
}

// Gradients: a tensor far smaller than the largest one is measured against a thousandth of that.
inline std::string gradient_difference(const NamedValues& got, const NamedValues& expected,
                                       double tolerance) {
  double largest_of_all = 0;
  for (const auto& [name, values] : expected)
    largest_of_all = std::max(largest_of_all, largest(values));
  return difference(got, expected, tolerance, 1e-3 * largest_of_all);
}

// Weights: a tensor of zeros is measured against one step of the learning rate.
inline std::string weight_difference(const NamedValues& got, const NamedValues& expected,
                                     double tolerance, double learning_rate) {
  return difference(got, expected, tolerance, learning_rate);
}

}  // namespace shardlings
