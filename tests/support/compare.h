// The course's metric for comparing named tensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
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

// Empty when every tensor satisfies max|got - expected| <= tolerance * max(max|expected|, floor);
// otherwise one line on the worst of them. NaN and missing tensors never pass.
inline std::string difference(const NamedValues& got, const NamedValues& expected, double tolerance,
                              double floor) {
  std::string worst;
  double worst_ratio = 1;
  for (const auto& [name, right] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) return name + " is missing";
    const std::vector<double>& values = found->second;
    if (values.size() != right.size())
      return fmt::format("{}: {} values, {} expected", name, values.size(), right.size());
    double off = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
      if (const double d = std::abs(values[i] - right[i]); !(d <= off)) off = d, where = i;
    const double allowed = tolerance * std::max(largest(right), floor);
    if (const double ratio = off / allowed; !(ratio <= worst_ratio)) {
      worst_ratio = ratio;
      worst = fmt::format("{}[{}]: expected {:.12g}, got {:.12g}; off by {:.3g}, allowed {:.3g}",
                          name, where, right[where], values[where], off, allowed);
    }
  }
  return worst;
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
