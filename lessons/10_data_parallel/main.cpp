// Lesson 10 · Data parallelism: every rank holds the whole model and trains on its own samples.
// New        gradients of all ranks added up, in buckets, before the update
// Known      training step (01) · micro-batches (04) · ring all-reduce (08)
// Measured   bytes and messages of the sum; the four columns, none of which shrinks but activations
// Run        ./shardlings run 10 -n 4
// Next       lesson 11 sends while backward still runs

#include <cmath>

#include "course/run.h"
#include "lessons/01_training_step/exercise.h"         // 01: clip_gradients
#include "lessons/01_training_step/trainer.h"          // 01: model, AdamW and its schedule
#include "lessons/04_gradient_accumulation/answers.h"  // 04: batches with masked tokens
#include "lessons/10_data_parallel/exercise.h"         // yours: gradients in buckets
#include "lessons/10_data_parallel/replicas.h"         // own samples, and the sum over ranks

namespace shardlings::lesson10 {

using namespace lesson01;

// n ranks   batch sequences per step   M micro-batches of a rank   P parameters

using Buckets = std::vector<Tensor>;

// ---- the mechanism ----
// replicas.h and exercise.h, in this order.

// ---- one step ----

// [slide train_step]
StepResult train_step(Trainer& trainer, const Buckets& buckets, const GlobalBatch& global,
                      Run& run) {
  Communicator& dp = run.world().dp();
  const double tokens = global.valid_tokens();  // of all ranks
  const double loss_sum =
      add_gradients(trainer.model, trainer.weights, own_samples(global, dp),  // new
                    run.number("micro-batches"), 1 / tokens);
  all_reduce_gradients(buckets, dp);  // new
  const double norm = clip_gradients(trainer.parameters, trainer.max_norm);
  trainer.optimizer.step(trainer.schedule.learning_rate(trainer.optimizer.steps_done() + 1));
  for (Parameter* parameter : trainer.parameters) parameter->clear_gradient();
  return {.loss = dp.sum(loss_sum) / tokens, .gradient_norm = norm};  // new
}
// [end slide]

double evaluate(Trainer& trainer, const GlobalBatch& global, Run& run) {
  Communicator& dp = run.world().dp();
  return dp.sum(trainer.evaluate(own_samples(global, dp), run));
}

// ---- what you can believe ----

// The same batch on one device, as in lesson 01, and on all ranks: what a small model in f64 learns
// from both.
void verify(Run& run, const Parameters& trained) {
  Communicator& dp = run.world().dp();
  const GlobalBatch global = run.batch(Split::train, 0);
  const double tokens = global.valid_tokens();
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const ModelSize size{.L = 2, .D = 24, .H = 3, .T = global.T, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), DType::f64, size, 1), whole_model(world.device(), DType::f64, size, 1);
  const Parameters parameters = model.parameters(), whole = whole_model.parameters();
  const Buckets buckets = make_gradient_buckets(parameters, run.number("bucket"));

  WeightGradients weights;
  const double loss = dp.sum(add_gradients(model, weights, own_samples(global, dp),
                                           run.number("micro-batches"), 1 / tokens)) /
                      tokens;
  all_reduce_gradients(buckets, dp);
  const double whole_loss = add_gradients(whole_model, weights, global, 1, 1 / tokens) / tokens;

  for (std::size_t i = 0; i < whole.size(); ++i)
    add_scaled(parameters[i]->gradient, whole[i]->gradient, -1);
  Report& report = run.report();
  check_at_most(report, "replicas that differ", replicas_are_equal(trained, dp) ? 0 : 1, 0);
  check_at_most(report, "loss equals one device's", std::abs(loss / whole_loss - 1), 1e-12);
  check_at_most(report, "gradient equals one device's",
                gradient_norm(parameters) / gradient_norm(whole), 1e-10);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  if (run.word("valid") == "answers") lesson04::learn_answers(run);
  Trainer trainer(run);
  const Buckets buckets = make_gradient_buckets(trainer.parameters, run.number("bucket"));
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, buckets, batch, run); },
            [&](const GlobalBatch& batch) { return evaluate(trainer, batch, run); });
  run.count("buckets", "buckets", static_cast<double>(buckets.size()));
  run.count_messages("gradients");
  verify(run, trainer.parameters);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson10

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 10,
       .slug = "data_parallel",
       .title = "Replicas: every rank its own samples, one sum of gradients",
       .defaults = {.batch = 16, .steps = 150, .ranks = 4},
       .knobs = {{.name = "micro-batches",
                  .initial = std::int64_t{1},
                  .help = "M, parts of a rank's samples; at most one per sequence",
                  .lowest = 1,
                  .highest = 65536,
                  .letter = "M",
                  .judged_with = {std::int64_t{1}, std::int64_t{2}}},
                 {.name = "bucket",
                  .initial = std::int64_t{200'000},
                  .help = "gradients of a bucket: elements that are reduced together",
                  .lowest = 1,
                  .highest = std::int64_t{1} << 40,
                  .judged_with = {std::int64_t{1000}, std::int64_t{100'000}}},
                 {.name = "valid",
                  .initial = "answers",
                  .help = "whose tokens count: answers (a prompt is masked) or all",
                  .allowed = {"answers", "all"}}},
       .letters_to_find = {"B"},
       .builds_on = {.folder = "04_gradient_accumulation"},
       .axis = shardlings::Axis::dp},
      shardlings::lesson10::lesson_main);
}
