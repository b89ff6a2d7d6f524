// diagnosis: a tensor's elements read by the host
// Elements are read where the host happens to reach them. A GPU would crash.
#include "lessons/01_training_step/exercise.h"

#include <cmath>

#include "tensor/ops.h"

namespace shardlings::lesson01 {

double gradient_norm(const Parameters& parameters) {
  double squares = 0;
  for (const Parameter* parameter : parameters) {
    const Tensor& gradient = parameter->gradient;
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      const double g = gradient.dtype() == DType::f64
                           ? static_cast<const double*>(gradient.data())[i]
                           : static_cast<const float*>(gradient.data())[i];
      squares += g * g;
    }
  }
  return std::sqrt(squares);
}

double clip_gradients(const Parameters& parameters, double max_norm) {
  const double norm = gradient_norm(parameters);
  if (max_norm > 0 && norm > max_norm)
    for (const Parameter* parameter : parameters) scale(parameter->gradient, max_norm / norm);
  return norm;
}

}  // namespace shardlings::lesson01
