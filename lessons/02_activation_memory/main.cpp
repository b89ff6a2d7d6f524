// Lesson 02 · Activation memory: the life of an activation, and T^2 of stored scores.
// New        the bytes each part of a block keeps; attention with its scores stored, and in tiles
// Known      training step, four columns (01)
// Measured   bytes of activations, part by part; who owns the peak; FLOPs that tiles repeat
// Run        ./shardlings run 02
// Next       lesson 03 stores less and computes it once more

#include <algorithm>
#include <cmath>
#include <map>

#include "course/run.h"
#include "data/stories.h"
#include "lessons/01_training_step/batch.h"                 // 01: what one forward pass reads
#include "lessons/01_training_step/exercise.h"              // 01: clip_gradients
#include "lessons/01_training_step/gpt.h"                   // 01: the model
#include "lessons/01_training_step/saved_tensors.h"         // 01: what forward leaves for backward
#include "lessons/01_training_step/trainer.h"               // 01: model, AdamW and its schedule
#include "lessons/02_activation_memory/attention_blocks.h"  // blocks, by what becomes of scores

namespace shardlings::lesson02 {

using namespace lesson01;

// B sequences   T tokens per sequence   D width   H heads of width K   L blocks   V vocabulary

// ---- the mechanism ----
// stored_attention.h, exercise.h, plain_attention.h and attention_blocks.h, in this order.

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

// The parts that keep something: of the first block, which stands for all, and around the blocks.
constexpr const char* kParts[] = {"batch",        "embedding",       "h.0.ln_1", "h.0.attn.c_attn",
                                  "h.0.attn",     "h.0.attn.scores", "h.0",      "h.0.ln_2",
                                  "h.0.mlp.c_fc", "h.0.mlp.gelu",    "ln_f",     "logits",
                                  "loss"};

// [slide count_saved]
// Stops a step between forward and backward, and asks the ledger what is held, and whose it is.
void count_saved(Trainer& trainer, Run& run) {
  const Batch batch = to_device(run.batch(Split::train, 0), run.world().device(), run.dtype());
  SavedTensors saved;
  trainer.model.forward(batch, saved);
  std::map<std::string, std::int64_t> bytes;
  for (const OwnerBytes& part : run.world().device_memory().owners())
    if (part.category == Category::activations) bytes[part.owner] = part.bytes;
  for (const char* part : kParts) run.count(part, "bytes", static_cast<double>(bytes[part]));
}
// [end slide]

// The loss of a small model in f64 and all its gradients, one after the other.
std::vector<double> loss_and_gradients(const std::string& scores) {
  Options options;
  options.threads = 1;  // too small to share
  World world(options);
  const ModelSize size{.L = 2, .D = 24, .H = 3, .T = 70, .V = TokenSource::kVocabulary};
  Gpt model(world.device(), DType::f64, size, 1, blocks_with(scores));
  const GlobalBatch global = global_batch(Stories(1), Split::train, 0, 2, size.T);
  const Batch batch = to_device(global, world.device(), DType::f64);
  SavedTensors saved;
  WeightGradients weights;
  std::vector<double> all{model.forward(batch, saved)};
  model.backward(1, saved, weights);
  for (const Parameter* parameter : model.parameters())
    std::ranges::copy(parameter->gradient.to_doubles(), std::back_inserter(all));
  return all;
}

// The length of a - b, relative to that of b.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    off += (a[i] - b[i]) * (a[i] - b[i]);
    all += b[i] * b[i];
  }
  return std::sqrt(off / all);
}

void verify(Run& run) {
  const std::vector<double> tiled = loss_and_gradients("tiled");  // lesson 01's
  for (const std::string scores : {"stored", "plain"})
    check_at_most(run.report(), fmt::format("{} scores: loss and gradients of lesson 01", scores),
                  difference(loss_and_gradients(scores), tiled), 1e-10);
}

// ---- the lesson ----

void lesson_main(Run& run) {
  Trainer trainer(run, blocks_with(run.word("scores")));
  trainer.load(run);
  run.train([&](const GlobalBatch& batch) { return train_step(trainer, batch, run); },
            [&](const GlobalBatch& batch) { return trainer.evaluate(batch, run); });
  count_saved(trainer, run);
  verify(run);
  run.save(trainer.stored_tensors());
  run.print_sample([&](const auto& tokens) { return trainer.model.next_token_logits(tokens); });
}

}  // namespace shardlings::lesson02

int main(int argc, char** argv) {
  return shardlings::run_lesson(
      argc, argv,
      {.number = 2,
       .slug = "activation_memory",
       .title = "The life of an activation: scores stored, or in tiles",
       .defaults = {.size = {.T = 512}, .batch = 2, .steps = 100},
       .knobs = {{.name = "scores",
                  .initial = "stored",
                  .help = "what becomes of attention's scores: stored for backward, tiled on the "
                          "device, or tiled in plain C++ on the host (slow)",
                  .allowed = {"stored", "tiled", "plain"},
                  .judged_with = {"stored", "tiled", "plain"}}},
       .builds_on = {.folder = "01_training_step"}},
      shardlings::lesson02::lesson_main);
}
