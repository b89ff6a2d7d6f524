// Exercise 10: gradients in buckets.
//
// solutions/10_data_parallel/exercise.cpp holds the course's answer, exercises/10_data_parallel/
// yours.
#pragma once

#include <vector>

#include "lessons/01_training_step/parameter.h"

namespace shardlings::lesson10 {

// Gives all parameters their gradients: views, each of its parameter's shape, of one piece of
// memory in which they lie side by side. The last parameter's comes first, the first one's last,
// which is the order in which backward completes them.
//
// Returns that memory cut into buckets, from its beginning to its end: flat views of `capacity`
// elements each, of what is left in the last. A bucket may end in the midst of a gradient.
//
// Requires: the parameters, at least one, are of one device and dtype and have no gradient yet;
// capacity >= 1. Cost: g P bytes of `gradients`.
std::vector<Tensor> make_gradient_buckets(const lesson01::Parameters& parameters,
                                          std::int64_t capacity);

}  // namespace shardlings::lesson10
