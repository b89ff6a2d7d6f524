// An empty part is a case of its own.
#include "lessons/02_activation_memory/exercise.h"

#include <algorithm>
#include <cmath>

namespace shardlings::lesson02 {

double log_add_exp(double a, double b) {
  if (a < b) return log_add_exp(b, a);
  return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
}

void merge(PartialSoftmax& total, const PartialSoftmax& block) {
  const double nothing = -std::numeric_limits<double>::infinity();
  if (block.log_sum_exp == nothing) return;
  if (total.log_sum_exp == nothing) {
    total = block;
    return;
  }
  const double both = log_add_exp(total.log_sum_exp, block.log_sum_exp);
  for (double& value : total.o) value *= std::exp(total.log_sum_exp - both);
  for (std::size_t i = 0; i < total.o.size(); ++i)
    total.o[i] += std::exp(block.log_sum_exp - both) * block.o[i];
  total.log_sum_exp = both;
}

}  // namespace shardlings::lesson02
