// Exercise 02: merge what a query has found in two parts of the keys.
//
// solutions/02_activation_memory/exercise.cpp holds the course's answer,
// exercises/02_activation_memory/ yours.
#pragma once

#include <limits>
#include <vector>

namespace shardlings::lesson02 {

// What one query finds among some of the keys, as if there were no others.
struct PartialSoftmax {
  // The log of the sum of exp(score) over these keys. -infinity, the log of 0: there are none.
  double log_sum_exp = -std::numeric_limits<double>::infinity();
  // o_K: the mean of these keys' values, weighted with exp(score). 0 where there are none.
  std::vector<double> o;
};

// log(exp(a) + exp(b)), for a and b of any size: no exp may overflow.
// Requires: a and b are finite or -infinity.
double log_add_exp(double a, double b);

// `total` becomes what the query finds among the keys of both parts (Milakov & Gimelshein 2018,
// arXiv:1805.02867, section 3.1).
// Requires: outputs of the same width; no key is in both.
void merge(PartialSoftmax& total, const PartialSoftmax& block);

}  // namespace shardlings::lesson02
