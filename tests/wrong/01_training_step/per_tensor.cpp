// diagnosis: every tensor shortened to max_norm on its own
// One factor per tensor turns the direction of the whole gradient.
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
  for (const Parameter* parameter : parameters) {
    const double own_norm = std::sqrt(sum_of_squares(parameter->gradient));
    if (max_norm > 0 && own_norm > max_norm) scale(parameter->gradient, max_norm / own_norm);
  }
  return norm;
}

}  // namespace shardlings::lesson01
