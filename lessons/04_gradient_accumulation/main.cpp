// Lesson 04 · Gradient accumulation: a batch that does not fit goes through in M micro-batches.
// New        forward and backward M times, then one update; a loss weighted by valid tokens
// Known      training step (01) · life of an activation (02) · store or recompute (03)
// Measured   activations of one micro-batch; parameters, gradients, optimizer and FLOPs as in 01
// Run        ./shardlings run 04 --micro-batches 4
// Next       lesson 05 makes every column smaller: the bytes of an element are a choice

#include <algorithm>
#include <cmath>

#include "course/run.h"
#include "lessons/01_training_step/batch.h"                  // 01: what one forward pass reads
#include "lessons/01_training_step/exercise.h"               // 01: clip_gradients
#include "lessons/01_training_step/gpt.h"                    // 01: the model
#include "lessons/01_training_step/saved_tensors.h"          // 01: what forward leaves for backward
#include "lessons/01_training_step/trainer.h"                // 01: model, AdamW and its schedule
#include "lessons/04_gradient_accumulation/answers.h"        // batches with masked tokens
#include "lessons/04_gradient_accumulation/exercise.h"       // yours: the weight of a micro-batch
#include "lessons/04_gradient_accumulation/micro_batches.h"  // the cut, and the loop over its parts

namespace shardlings::lesson04 {

using namespace lesson01;

// batch sequences per step   M micro-batches   B sequences in the largest   P parameters

// ---- the mechanism ----
// answers.h, micro_batches.h and exercise.h, in this order.

std::vector<GlobalBatch> parts_of(const GlobalBatch& global, const Run& run) {
  return micro_batches(global, run.number("micro-batches"));
}

// ---- one step ----

// [slide train_step]
StepResult train_step(Trainer& trainer, const GlobalBatch& global, Run& run) {
  const double loss =
      accumulate_gradients(trainer.model, trainer.weights, parts_of(global, run));  // new
  const double norm = clip_gradients(trainer.parameters, trainer.max_norm);
  trainer.optimizer.step(trainer.schedule.learning_rate(trainer.optimizer.steps_done() + 1));
  for (Parameter* parameter : trainer.parameters) parameter->clear_gradient();
  return {.loss = loss, .gradient_norm = norm};
}
// [end slide]

double evaluate(Trainer& trainer, const GlobalBatch& global, Run& run) {
  double loss_sum = 0;
  for (const GlobalBatch& part : parts_of(global, run)) loss_sum += trainer.evaluate(part, run);
  return loss_sum;
}

// ---- what you can believe ----

// The same batch whole, as in lesson 01, and in parts: what a small model in f64 learns from both.
void verify(Run& run) {
  const GlobalBatch global = run.batch(Split::train, 0);
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const ModelSize size{.L = 2, .D = 24, .H = 3, .T = global.T, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), DType::f64, size, 1), whole_model(world.device(), DType::f64, size, 1);
  const Parameters parameters = model.parameters(), whole = whole_model.parameters();

  WeightGradients weights;
  const double loss = accumulate_gradients(model, weights, parts_of(global, run));
  SavedTensors saved;
  const double whole_loss =
      whole_model.forward(to_device(global, world.device(), DType::f64), saved) /
      global.valid_tokens();
  whole_model.backward(1 / global.valid_tokens(), saved, weights);

  for (std::size_t i = 0; i < whole.size(); ++i)
    add_scaled(parameters[i]->gradient, whole[i]->gradient, -1);
  check_at_most(run.report(), "loss equals the whole batch's", std::abs(loss / whole_loss - 1),
                1e-12);
  check_at_most(run.report(), "gradient equals the whole batch's",
                gradient_norm(parameters) / gradient_norm(whole), 1e-10);
}

// How uneven the micro-batches of the first step are.
void count_valid_tokens(Run& run) {
  std::vector<double> tokens;
  for (const GlobalBatch& part : parts_of(run.batch(Split::train, 0), run))
    tokens.push_back(part.valid_tokens());
  const auto [fewest, most] = std::ranges::minmax(tokens);
  run.count("fewest valid tokens of a part in step 1", "tokens", fewest);
  run.count("most valid tokens of a part in step 1", "tokens", most);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  if (run.word("valid") == "answers") learn_answers(run);
  Trainer trainer(run);
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, batch, run); },
            [&](const GlobalBatch& batch) { return evaluate(trainer, batch, run); });
  count_valid_tokens(run);
  verify(run);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson04

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 4,
       .slug = "gradient_accumulation",
       .title = "Micro-batches and a loss weighted by tokens",
       .defaults = {.batch = 16, .steps = 150},
       .knobs = {{.name = "micro-batches",
                  .initial = std::int64_t{4},
                  .help = "M, parts of a step's batch; at most one per sequence",
                  .lowest = 1,
                  .highest = 65536,
                  .letter = "M",
                  .judged_with = {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}},
                 {.name = "valid",
                  .initial = "answers",
                  .help = "whose tokens count: answers (a prompt is masked) or all",
                  .allowed = {"answers", "all"}}},
       .letters_to_find = {"B"},
       .builds_on = {.folder = "03_checkpointing",
                     .letters = {{"B", "batch"},
                                 {"none", "1"},
                                 {"selective", "0"},
                                 {"full", "0"},
                                 {"every", "1"},
                                 {"stored", "0"},
                                 {"tiled", "1"}}}},
      shardlings::lesson04::lesson_main);
}
