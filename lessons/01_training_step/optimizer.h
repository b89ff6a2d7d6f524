// AdamW and its learning-rate schedule.
#pragma once

#include "lessons/01_training_step/parameter.h"
#include "tensor/ops.h"

namespace shardlings::lesson01 {

struct Schedule {
  double peak = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;

  // Linear warm-up to the peak, then half a cosine down to a tenth of it. `step` counts from 1.
  double learning_rate(std::int64_t step) const;
};

// Keeps two moments per parameter element, in the type of the parameter.
// Cost: 2 P elements in `optimizer`. Source: operations.h, struct AdamW.
class Optimizer {
 public:
  // Requires: the parameters outlive the optimizer.
  Optimizer(const Parameters& parameters, double decay);

  // One update from the gradients. Weight decay acts on parameters whose `decays` is set.
  // Requires: every parameter has a gradient.
  void step(double learning_rate);

  std::int64_t steps_done() const { return steps_done_; }
  // For a resumed run, whose moments have been filled.
  void set_steps_done(std::int64_t steps) { steps_done_ = steps; }

  // visitor(name, tensor) for both moments of every parameter: "wte.weight.m", "wte.weight.v", ...
  void visit(const std::function<void(const std::string&, const Tensor&)>& visitor) const;

 private:
  struct State {
    Parameter* parameter;
    Tensor mean, mean_square;  // the moments m and v
  };

  std::vector<State> states_;
  double decay_;
  std::int64_t steps_done_ = 0;
};

}  // namespace shardlings::lesson01
