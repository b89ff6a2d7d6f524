// Lesson 01 · A training step: one transformer, one device, four columns of memory.
// New        forward, backward and update of a GPT-2, written out layer by layer
// Known      C++; what a matrix product and a derivative are
// Measured   bytes of parameters, gradients, optimizer state and activations; FLOPs of a step
// Run        ./shardlings run 01
// Next       lesson 02 follows one activation through its life

#include <algorithm>
#include <cmath>

#include "course/run.h"
#include "lessons/01_training_step/batch.h"          // what one forward pass reads
#include "lessons/01_training_step/exercise.h"       // yours: clip_gradients
#include "lessons/01_training_step/gpt.h"            // the model, from embedding to loss
#include "lessons/01_training_step/saved_tensors.h"  // what forward leaves for backward
#include "lessons/01_training_step/trainer.h"        // model, AdamW and its schedule

namespace shardlings::lesson01 {

// B sequences   T tokens per sequence   D width   L blocks   V vocabulary   P parameters

// ---- the mechanism ----
// layer.h, layers.cpp, gpt.cpp and trainer.h, in this order. This is what they add up to:

// ---- one step ----

// [slide train_step]
StepResult train_step(Trainer& trainer, const GlobalBatch& global, Run& run) {
  const Batch batch = to_device(global, run.world().device(), run.dtype());
  SavedTensors saved;
  const double loss_sum = trainer.model.forward(batch, saved);
  trainer.model.backward(1 / global.valid_tokens(), saved, trainer.weights);
  const double norm = clip_gradients(trainer.parameters, trainer.max_norm);
  trainer.optimizer.step(trainer.schedule.learning_rate(trainer.optimizer.steps_done() + 1));
  for (Parameter* parameter : trainer.parameters) parameter->clear_gradient();
  return {.loss = loss_sum / global.valid_tokens(), .gradient_norm = norm};
}
// [end slide]

// ---- what you can believe ----

// Relative difference between the gradient's prediction and what the loss really does along the
// gradient of a small model in f64: a central difference, whose own error is far below the limit.
double gradient_error(const GlobalBatch& global) {
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const ModelSize size{.L = 2, .D = 24, .H = 3, .T = global.T, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), DType::f64, size, 1);
  const Parameters parameters = model.parameters();
  const Batch batch = to_device(global, world.device(), DType::f64);
  const double scale = 1 / global.valid_tokens();

  SavedTensors saved;
  WeightGradients weights;
  model.forward(batch, saved);
  model.backward(scale, saved, weights);
  const double norm = gradient_norm(parameters);

  const auto loss_at = [&](double distance) {  // along the gradient's direction
    for (Parameter* p : parameters) add_scaled(p->value, p->gradient, distance / norm);
    SavedTensors none = SavedTensors::none();
    const double loss = scale * model.forward(batch, none);
    for (Parameter* p : parameters) add_scaled(p->value, p->gradient, -distance / norm);
    return loss;
  };
  const double h = 1e-5;
  return std::abs((loss_at(h) - loss_at(-h)) / (2 * h) / norm - 1);
}

void verify(Run& run) {
  Report& report = run.report();
  if (run.starts_untrained()) {
    // A model that knows nothing gives every byte nearly the same probability. With a tied output
    // matrix, logits spread with the width even before training.
    const double knows_nothing = std::log(static_cast<double>(run.options().size.V));
    check_at_most(report, "loss before training is ln V",
                  std::abs(report.losses.front() / knows_nothing - 1),
                  std::max(0.01, 1e-4 * static_cast<double>(run.options().size.D)));
  }
  check_at_most(report, "gradient predicts the loss", gradient_error(run.batch(Split::train, 0)),
                1e-6);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  Trainer trainer(run);
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, batch, run); },
            [&](const GlobalBatch& batch) { return trainer.evaluate(batch, run); });
  verify(run);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson01

int main(int argc, char** argv) {
  return shardlings::run_lesson(argc, argv,
                                {.number = 1,
                                 .slug = "training_step",
                                 .title = "One transformer, one device, four columns",
                                 .letters_to_find = {"P"},
                                 .rows_to_estimate = {"activations", "model_and_activations"}},
                                shardlings::lesson01::lesson_main);
}
