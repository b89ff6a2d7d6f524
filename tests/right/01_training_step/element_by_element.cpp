// On the host, with a sum that never holds a square.
#include "lessons/01_training_step/exercise.h"

#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  double norm = 0;
  for (const Parameter* parameter : parameters)
    for (const double g : parameter->gradient.to_doubles()) norm = std::hypot(norm, g);
  return norm;
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  if (max_norm == 0 || norm <= max_norm) return norm;
  for (const Parameter* parameter : parameters) {
    std::vector<double> values = parameter->gradient.to_doubles();
    for (double& value : values) value /= norm / max_norm;
    parameter->gradient.from_doubles(values);
  }
  return norm;
}

}  // namespace shardlings::lesson01
