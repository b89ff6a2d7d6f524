// Both weights relative to the larger log-sum-exp, then divided by their sum.
#include "lessons/02_activation_memory/exercise.h"

#include <algorithm>
#include <cmath>

namespace shardlings::lesson02 {

double log_add_exp(double a, double b) {
  const double larger = std::max(a, b);
  if (std::isinf(larger)) return larger;
  return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
}

void merge(PartialSoftmax& total, const PartialSoftmax& block) {
  const double larger = std::max(total.log_sum_exp, block.log_sum_exp);
  if (std::isinf(larger)) return;
  const double kept = std::exp(total.log_sum_exp - larger);
  const double added = std::exp(block.log_sum_exp - larger);
  for (std::size_t i = 0; i < total.o.size(); ++i)
    total.o[i] = (kept * total.o[i] + added * block.o[i]) / (kept + added);
  total.log_sum_exp = larger + std::log(kept + added);
}

}  // namespace shardlings::lesson02
