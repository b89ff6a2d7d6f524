// All norms first, then one factor for all tensors, also when it is 1.
#include "lessons/01_training_step/exercise.h"

#include <algorithm>
#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  std::vector<double> norms;
  for (const Parameter* parameter : parameters)
    norms.push_back(std::sqrt(sum_of_squares(parameter->gradient)));
  double squares = 0;
  for (auto norm = norms.rbegin(); norm != norms.rend(); ++norm) squares += *norm * *norm;
  return std::sqrt(squares);
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  const double factor = max_norm > 0 && norm > 0 ? std::min(1.0, max_norm / norm) : 1;
  for (const Parameter* parameter : parameters) scale(parameter->gradient, factor);
  return norm;
}

}  // namespace shardlings::lesson01
