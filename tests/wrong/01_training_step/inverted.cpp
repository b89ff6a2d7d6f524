// diagnosis: the gradients times norm / max_norm
// The fraction stands on its head.
#include "lessons/01_training_step/exercise.h"

#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  double squares = 0;
  for (const Parameter* parameter : parameters) squares += sum_of_squares(parameter->gradient);
  return std::sqrt(squares);
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  if (max_norm > 0 && norm > max_norm)
    for (const Parameter* parameter : parameters) scale(parameter->gradient, norm / max_norm);
  return norm;
}

}  // namespace shardlings::lesson01
