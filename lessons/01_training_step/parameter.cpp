#include "lessons/01_training_step/parameter.h"

#include "base/random.h"
#include "tensor/ops.h"

namespace shardlings::lesson01 {

bool Parameter::open_gradient() {
  if (gradient.is_empty())
    gradient = Tensor(value.device(), value.dtype(), value.shape(), name, Category::gradients);
  const bool holds_parts = gradient_is_open_;
  gradient_is_open_ = true;
  return holds_parts;
}

Parameter whole_parameter(Device& device, DType dtype, std::string name, const Shape& shape,
                          Init init) {
  const bool is_matrix = shape.rank() == 2;
  Parameter parameter;
  parameter.value = Tensor(device, dtype, shape, name, Category::parameters);
  parameter.name = std::move(name);
  parameter.global_shape = shape;
  parameter.init = init;
  parameter.decays = is_matrix;
  parameter.box = {.rows = is_matrix ? shape[0] : 1, .columns = shape.last()};
  parameter.updated_here = {0, shape.elements()};
  return parameter;
}

void initialise(const Parameter& parameter, std::uint64_t seed) {
  const Init& init = parameter.init;
  if (init.deviation == 0) return fill(parameter.value, init.mean);

  const RandomStream random(seed, parameter.name);
  const Box& box = parameter.box;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(box.elements()));
  for (std::int64_t r = box.first_row; r < box.first_row + box.rows; ++r)
    for (std::int64_t c = box.first_column; c < box.first_column + box.columns; ++c) {
      const std::int64_t global_index = r * parameter.global_shape.last() + c;
      values.push_back(init.mean +
                       init.deviation * random.normal(static_cast<std::uint64_t>(global_index)));
    }
  parameter.value.from_doubles(values);
}

std::int64_t count_elements(const Parameters& parameters) {
  std::int64_t elements = 0;
  for (const Parameter* parameter : parameters) elements += parameter->value.elements();
  return elements;
}

}  // namespace shardlings::lesson01
