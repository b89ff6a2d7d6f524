// diagnosis: infinity: too large for its type
// The square of 1e25 does not fit into a float.
#include "lessons/01_training_step/exercise.h"

#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  float squares = 0;
  for (const Parameter* parameter : parameters)
    for (const double g : parameter->gradient.to_doubles())
      squares += static_cast<float>(g) * static_cast<float>(g);
  return std::sqrt(squares);
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  if (max_norm > 0 && norm > max_norm)
    for (const Parameter* parameter : parameters) scale(parameter->gradient, max_norm / norm);
  return norm;
}

}  // namespace shardlings::lesson01
