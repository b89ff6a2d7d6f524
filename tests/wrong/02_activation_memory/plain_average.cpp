// diagnosis: the mean of the two outputs, whatever their log-sum-exps
// A mean of means: right only when both parts weigh the same.
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
  for (std::size_t i = 0; i < total.o.size(); ++i) total.o[i] = (total.o[i] + block.o[i]) / 2;
  total.log_sum_exp = both;
}

}  // namespace shardlings::lesson02
