// Lesson 11 · Overlap: the sum of a bucket runs while backward still computes the next one.
// New        a layer that starts a reduction when its gradients are complete
// Known      micro-batches (04) · the modelled clock (09) · buckets of gradients (10)
// Measured   the same bytes and messages as in lesson 10; how much of their time is exposed
// Run        ./shardlings run 11 -n 4 --cluster h100x8
// Next       lesson 12 keeps a part of the optimizer's state on each rank

#include <algorithm>
#include <cmath>

#include "course/run.h"
#include "lessons/01_training_step/exercise.h"         // 01: clip_gradients
#include "lessons/01_training_step/trainer.h"          // 01: model, AdamW and its schedule
#include "lessons/04_gradient_accumulation/answers.h"  // 04: batches with masked tokens
#include "lessons/10_data_parallel/exercise.h"         // 10: gradients in buckets
#include "lessons/10_data_parallel/replicas.h"         // 10: own samples, and the sum over ranks
#include "lessons/11_overlap/exercise.h"               // yours: when a bucket's sum begins
#include "lessons/11_overlap/overlap.h"                // a block that reports its backward

namespace shardlings::lesson11 {

using namespace lesson01;
using namespace lesson10;

// n ranks   batch sequences per step   M micro-batches of a rank   P parameters

// ---- the mechanism ----
// overlap.h and exercise.h, in this order.

// ---- one step ----

// [slide train_step]
StepResult train_step(Trainer& trainer, OverlappedReduction& reduction, const GlobalBatch& global,
                      Run& run) {
  Communicator& dp = run.world().dp();
  const double tokens = global.valid_tokens();  // of all ranks
  const GlobalBatch own = own_samples(global, dp);
  const std::int64_t M = std::min(run.number("micro-batches"), own.sequences);
  reduction.begin_step(M);  // new
  const double loss_sum = add_gradients(trainer.model, trainer.weights, own, M, 1 / tokens);
  reduction.finish();  // new
  const double norm = clip_gradients(trainer.parameters, trainer.max_norm);
  trainer.optimizer.step(trainer.schedule.learning_rate(trainer.optimizer.steps_done() + 1));
  for (Parameter* parameter : trainer.parameters) parameter->clear_gradient();
  return {.loss = dp.sum(loss_sum) / tokens, .gradient_norm = norm};
}
// [end slide]

double evaluate(Trainer& trainer, const GlobalBatch& global, Run& run) {
  Communicator& dp = run.world().dp();
  return dp.sum(trainer.evaluate(own_samples(global, dp), run));
}

// ---- what you can believe ----

// The first batch through a small model in f64: the gradients, how many buckets were under way when
// backward ended, and how many of them have nothing of the embedding, whose gradients come last.
struct Sums {
  std::vector<Tensor> gradients;
  std::size_t started = 0, without_embedding = 0;
};

Sums sums_of(Run& run, World& world, bool overlapped) {
  Communicator& dp = run.world().dp();
  const GlobalBatch global = run.batch(Split::train, 0), own = own_samples(global, dp);
  const std::int64_t M = std::min(run.number("micro-batches"), own.sequences);
  const ModelSize size{.L = 2, .D = 24, .H = 3, .T = global.T, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), DType::f64, size, 1);
  constexpr std::int64_t kBucket = 1000;
  const std::vector<Tensor> buckets = make_gradient_buckets(model.parameters(), kBucket);
  OverlappedReduction reduction(buckets, dp);
  if (overlapped) reduce_in_backward(model, reduction, dp);
  reduction.begin_step(M);
  WeightGradients weights;
  add_gradients(model, weights, own, M, 1 / global.valid_tokens());
  const std::size_t started = reduction.started();
  reduction.finish();  // starts all that backward did not
  const std::int64_t others = count_elements(model.parameters()) - (size.V + size.T) * size.D;
  return {buckets, started, static_cast<std::size_t>(others / kBucket)};
}

// Lesson 10's sums, to the bit; but most of them begun while backward ran.
void verify(Run& run, const Parameters& trained) {
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const Sums early = sums_of(run, world, true), late = sums_of(run, world, false);
  double difference = 0;
  for (std::size_t b = 0; b < late.gradients.size(); ++b) {
    add_scaled(early.gradients[b], late.gradients[b], -1);
    difference += sum_of_squares(early.gradients[b]);
  }
  Report& report = run.report();
  check_at_most(report, "replicas that differ",
                replicas_are_equal(trained, run.world().dp()) ? 0 : 1, 0);
  check_at_most(report, "sums differ from lesson 10's by", std::sqrt(difference), 0);
  check_at_most(report, "complete buckets that wait for the end of backward",
                static_cast<double>(early.without_embedding - early.started), 0);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  if (run.word("valid") == "answers") lesson04::learn_answers(run);
  Communicator& dp = run.world().dp();
  Trainer trainer(run);
  const std::vector<Tensor> buckets =
      make_gradient_buckets(trainer.parameters, run.number("bucket"));
  OverlappedReduction reduction(buckets, dp);
  reduce_in_backward(trainer.model, reduction, dp);
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, reduction, batch, run); },
            [&](const GlobalBatch& batch) { return evaluate(trainer, batch, run); });
  run.count("buckets", "buckets", static_cast<double>(buckets.size()));
  run.count_messages("gradients");
  verify(run, trainer.parameters);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson11

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 11,
       .slug = "overlap",
       .title = "Reduce while backward still runs",
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
       .builds_on = {.folder = "10_data_parallel"},
       .axis = shardlings::Axis::dp},
      shardlings::lesson11::lesson_main);
}
