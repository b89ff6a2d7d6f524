// diagnosis: expected  5000 measured  inf
// check: no exp overflows
// The first is taken for the larger one: right only where it is, or nearly.
#include "lessons/02_activation_memory/exercise.h"

#include <cmath>

namespace shardlings::lesson02 {

double log_add_exp(double a, double b) {
  if (std::isinf(a)) return b;
  if (std::isinf(b)) return a;
  return a + std::log1p(std::exp(b - a));
}

void merge(PartialSoftmax& total, const PartialSoftmax& block) {
  const double both = log_add_exp(total.log_sum_exp, block.log_sum_exp);
  if (std::isinf(both)) return;
  const double kept = std::exp(total.log_sum_exp - both);
  const double added = std::exp(block.log_sum_exp - both);
  for (std::size_t i = 0; i < total.o.size(); ++i)
    total.o[i] = kept * total.o[i] + added * block.o[i];
  total.log_sum_exp = both;
}

}  // namespace shardlings::lesson02
