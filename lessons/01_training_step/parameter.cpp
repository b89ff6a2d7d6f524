#include "lessons/01_training_step/parameter.h"

#include "base/random.h"
#include "tensor/ops.h"

namespace shardlings::lesson01 {

Shape Parameter::shape() const {
  if (range != FlatRange{0, box.elements()}) return {elements()};
  return global_shape.rank() == 2 ? Shape{box.rows, box.columns} : Shape{box.columns};
}

bool Parameter::open_gradient() {
  if (gradient.is_empty()) gradient = Tensor(*device, dtype, shape(), name, Category::gradients);
  const bool holds_parts = gradient_is_open_;
  gradient_is_open_ = true;
  return holds_parts;
}

Parameter whole_parameter(Device& device, DType dtype, std::string name, const Shape& shape,
                          Init init) {
  const bool is_matrix = shape.rank() == 2;
  Parameter parameter;
  parameter.device = &device;
  parameter.dtype = dtype;
  parameter.name = std::move(name);
  parameter.global_shape = shape;
  parameter.init = init;
  parameter.decays = is_matrix;
  parameter.box = {.rows = is_matrix ? shape[0] : 1, .columns = shape.last()};
  parameter.range = {0, shape.elements()};
  return parameter;
}

void initialise(Parameter& parameter, std::uint64_t seed) {
  if (parameter.value.is_empty())
    parameter.value = Tensor(*parameter.device, parameter.dtype, parameter.shape(), parameter.name,
                             Category::parameters);
  const Init& init = parameter.init;
  if (init.deviation == 0) return fill(parameter.value, init.mean);

  const RandomStream random(seed, parameter.name);
  const Box& box = parameter.box;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(parameter.elements()));
  for (std::int64_t i = parameter.range.begin; i < parameter.range.end; ++i) {
    const std::int64_t row = box.first_row + i / box.columns;
    const std::int64_t column = box.first_column + i % box.columns;
    const std::int64_t global_index = row * parameter.global_shape.last() + column;
    values.push_back(init.mean +
                     init.deviation * random.normal(static_cast<std::uint64_t>(global_index)));
  }
  parameter.value.from_doubles(values);
}

std::int64_t count_elements(const Parameters& parameters) {
  std::int64_t elements = 0;
  for (const Parameter* parameter : parameters) elements += parameter->elements();
  return elements;
}

}  // namespace shardlings::lesson01
