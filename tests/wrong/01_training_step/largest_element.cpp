// diagnosis: the largest element
// A norm, but not the Euclidean one.
#include "lessons/01_training_step/exercise.h"

#include <algorithm>
#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  double largest = 0;
  for (const Parameter* parameter : parameters)
    for (const double g : parameter->gradient.to_doubles())
      largest = std::max(largest, std::abs(g));
  return largest;
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  if (max_norm > 0 && norm > max_norm)
    for (const Parameter* parameter : parameters) scale(parameter->gradient, max_norm / norm);
  return norm;
}

}  // namespace shardlings::lesson01
