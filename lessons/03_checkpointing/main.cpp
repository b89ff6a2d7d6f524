// Lesson 03 · Checkpointing: store an activation, or compute it once more.
// New        layers that save their input alone, and run forward a second time in backward
// Known      training step (01) · what a block keeps, stored scores (02)
// Measured   activations: boundaries, and one segment at a time; FLOPs that are done twice
// Run        ./shardlings run 03
// Next       lesson 04 feeds the batch in parts

#include <algorithm>

#include "course/run.h"
#include "lessons/01_training_step/batch.h"          // 01: what one forward pass reads
#include "lessons/01_training_step/exercise.h"       // 01: clip_gradients
#include "lessons/01_training_step/gpt.h"            // 01: the model
#include "lessons/01_training_step/saved_tensors.h"  // 01: what forward leaves for backward
#include "lessons/01_training_step/trainer.h"        // 01: model, AdamW and its schedule
#include "lessons/03_checkpointing/checkpointing.h"  // what to store, for a whole model
#include "lessons/03_checkpointing/exercise.h"       // yours: segments, and how one runs
#include "lessons/03_checkpointing/recomputed.h"     // layers that store less

namespace shardlings::lesson03 {

using namespace lesson01;

// B sequences   T tokens per sequence   D width   H heads   L blocks   V vocabulary
// k blocks per segment, set by --every

// ---- the mechanism ----
// recomputed.h, exercise.h and checkpointing.h, in this order.

Plan plan_of(const Run& run) {
  const std::string& recompute = run.word("recompute");
  return {.stored_scores = run.word("scores") == "stored",
          .selective = recompute == "selective",
          .blocks_per_segment = recompute == "full" ? run.number("every") : 0};
}

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

// All gradients of a small model, one after the other.
std::vector<double> gradients(const Plan& plan, const GlobalBatch& global, DType dtype) {
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const ModelSize size{.L = 5, .D = 24, .H = 3, .T = global.T, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), dtype, size, 1, blocks_with(plan));
  recompute_segments(model.blocks(), plan);
  const Batch batch = to_device(global, world.device(), dtype);
  SavedTensors saved;
  WeightGradients weights;
  model.forward(batch, saved);
  model.backward(1 / global.valid_tokens(), saved, weights);
  std::vector<double> all;
  for (const Parameter* parameter : model.parameters())
    std::ranges::copy(parameter->gradient.to_doubles(), std::back_inserter(all));
  return all;
}

// What is computed a second time has the very same values: no gradient may differ in any bit.
void verify(Run& run) {
  const Plan plan = plan_of(run);
  const GlobalBatch global = run.batch(Split::train, 0);
  const std::vector<double> recomputed = gradients(plan, global, run.dtype());
  const std::vector<double> stored =
      gradients({.stored_scores = plan.stored_scores}, global, run.dtype());
  double changed = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) changed += recomputed[i] != stored[i];
  check_at_most(run.report(), "gradient elements that recomputation changes", changed, 0);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  const Plan plan = plan_of(run);
  Trainer trainer(run, blocks_with(plan));
  recompute_segments(trainer.model.blocks(), plan);
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, batch, run); },
            [&](const GlobalBatch& batch) { return trainer.evaluate(batch, run); });
  run.count("recomputed FLOPs per step", "FLOPs",
            static_cast<double>(run.world().work().total().recomputed_flops) /
                static_cast<double>(run.report().losses.size()));
  verify(run);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson03

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 3,
       .slug = "checkpointing",
       .title = "Store or recompute: none, selective, full, every k-th block",
       .defaults = {.steps = 250},
       .knobs = {{.name = "recompute",
                  .initial = "full",
                  .help = "what backward computes once more: none, selective (what is large and "
                          "cheap) or full (whole segments of blocks)",
                  .allowed = {"none", "selective", "full"},
                  .judged_with = {"none", "selective", "full"}},
                 {.name = "every",
                  .initial = std::int64_t{1},
                  .help = "k, blocks per segment when recomputing is full",
                  .lowest = 1,
                  .judged_with = {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}},
                 {.name = "scores",
                  .initial = "tiled",
                  .help = "attention's scores: stored for backward, or tiled",
                  .allowed = {"stored", "tiled"},
                  .judged_with = {"stored", "tiled"}}},
       .builds_on = {.folder = "02_activation_memory", .letters = {{"plain", "0"}}}},
      shardlings::lesson03::lesson_main);
}
