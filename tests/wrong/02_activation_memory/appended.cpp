// diagnosis: how many elements o has
// The outputs one after the other: that is how keys are merged, not what was found among them.
#include "lessons/02_activation_memory/exercise.h"

#include <algorithm>
#include <cmath>

namespace shardlings::lesson02 {

double log_add_exp(double a, double b) {
  const double larger = std::max(a, b), smaller = std::min(a, b);
  if (std::isinf(smaller)) return larger;
  return larger + std::log1p(std::exp(smaller - larger));
}

void merge(PartialSoftmax& total, const PartialSoftmax& block) {
  const double both = log_add_exp(total.log_sum_exp, block.log_sum_exp);
  if (std::isinf(both)) return;
  total.o.insert(total.o.end(), block.o.begin(), block.o.end());
  total.log_sum_exp = both;
}

}  // namespace shardlings::lesson02
