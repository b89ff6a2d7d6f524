#include "lessons/01_training_step/trainer.h"

namespace shardlings::lesson01 {

Parameters place_whole(Gpt& model, std::uint64_t seed) {
  model.visit([&](Parameter& parameter) { initialise(parameter, seed); });
  return model.parameters();
}

Trainer::Trainer(Run& run, const MakeBlock& make_block, const Place& place)
    : model(run.world().device(), run.dtype(), run.options().size, std::nullopt, make_block),
      parameters(place(model, static_cast<std::uint64_t>(run.options().seed))),
      optimizer(parameters, run.options().weight_decay),
      schedule{.peak = run.options().learning_rate,
               .warmup_steps = run.options().warmup_steps,
               .total_steps = run.options().steps},
      max_norm(run.options().clip) {}

void Trainer::load(Run& run) {
  // Their storage is there from the start and stays: backward writes into it.
  for (Parameter* parameter : parameters) {
    parameter->open_gradient();
    parameter->clear_gradient();
  }
  run.report().model.P = count_elements(model.parameters());
  optimizer.set_steps_done(run.load(stored_tensors()));
}

StoredTensors Trainer::stored_tensors() {
  StoredTensors stored;
  for (const Parameter* p : model.parameters()) stored.parameters.push_back({p->name, p->value});
  optimizer.visit([&](const std::string& name, const Tensor& moment) {
    stored.optimizer.push_back({name, moment});
  });
  return stored;
}

double Trainer::evaluate(const GlobalBatch& global, Run& run) {
  SavedTensors none = SavedTensors::none();
  return model.forward(to_device(global, run.world().device(), run.dtype()), none);
}

}  // namespace shardlings::lesson01
