#include "lessons/01_training_step/exercise.h"

#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  // [exercise 1.1] return the norm of all gradients as one vector
  // | sum_of_squares(tensor) adds up the squares of one tensor's elements.
  double squares = 0;
  for (const Parameter* parameter : parameters) squares += sum_of_squares(parameter->gradient);
  return std::sqrt(squares);
  // [end]
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  // [exercise 1.2] shorten the gradients to max_norm when they are longer
  // | scale(tensor, factor) multiplies every element of one tensor.
  const double norm = gradient_norm(parameters);
  if (max_norm > 0 && norm > max_norm)
    for (const Parameter* parameter : parameters) scale(parameter->gradient, max_norm / norm);
  return norm;
  // [end]
}

}  // namespace shardlings::lesson01
