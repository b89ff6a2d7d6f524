#include "lessons/02_activation_memory/exercise.h"

#include <algorithm>
#include <cmath>

namespace shardlings::lesson02 {

double log_add_exp(double a, double b) {
  // [exercise 2.1] return log(exp(a) + exp(b)) without an exp that overflows
  // | Scores of 1000 are nothing unusual, and exp(710) is more than a double holds.
  const double larger = std::max(a, b), smaller = std::min(a, b);
  if (std::isinf(smaller)) return larger;  // exp(-infinity) adds nothing; both may be -infinity
  return larger + std::log1p(std::exp(smaller - larger));
  // [end]
}

void merge(PartialSoftmax& total, const PartialSoftmax& block) {
  // [exercise 2.2] make total what the query finds among the keys of both
  // | Each output is a mean already. What share of the sum of all exp(score) is the block's?
  const double both = log_add_exp(total.log_sum_exp, block.log_sum_exp);
  if (std::isinf(both)) return;  // neither sees a key
  const double kept = std::exp(total.log_sum_exp - both);
  const double added = std::exp(block.log_sum_exp - both);
  for (std::size_t i = 0; i < total.o.size(); ++i)
    total.o[i] = kept * total.o[i] + added * block.o[i];
  total.log_sum_exp = both;
  // [end]
}

}  // namespace shardlings::lesson02
