#include "lessons/01_training_step/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace shardlings::lesson01 {

double Schedule::learning_rate(std::int64_t step) const {
  if (step <= warmup_steps)
    return peak * static_cast<double>(step) / static_cast<double>(warmup_steps);
  const double floor = peak / 10;
  const auto decay_steps =
      static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) / decay_steps);
  return floor + (peak - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

Optimizer::Optimizer(const Parameters& parameters, double decay) : decay_(decay) {
  for (Parameter* parameter : parameters) {
    const Tensor& value = parameter->value;
    const auto zeros = [&] {
      Tensor moment(value.device(), value.dtype(), value.shape(), parameter->name,
                    Category::optimizer);
      fill(moment, 0);
      return moment;
    };
    states_.push_back({parameter, zeros(), zeros()});
  }
}

void Optimizer::step(double learning_rate) {
  ++steps_done_;
  for (const State& state : states_) {
    const Parameter& parameter = *state.parameter;
    CHECK(parameter.has_gradient(), "{} has no gradient: backward did not reach it",
          parameter.name);
    adamw(parameter.value, state.mean, state.mean_square, parameter.gradient,
          {.learning_rate = learning_rate,
           .decay = parameter.decays ? decay_ : 0,
           .step = steps_done_});
  }
}

void Optimizer::visit(const std::function<void(const std::string&, const Tensor&)>& visitor) const {
  for (const State& state : states_) {
    visitor(state.parameter->name + ".m", state.mean);
    visitor(state.parameter->name + ".v", state.mean_square);
  }
}

}  // namespace shardlings::lesson01
