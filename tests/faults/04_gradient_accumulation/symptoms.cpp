// An exam of lesson 04's own code, for faults that a loss curve does not show.
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson04;

namespace {

constexpr ModelSize kSize{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};

struct Step {
  NamedValues gradients;
  std::int64_t activation_bytes;
};

// The gradients that `parts` leave, scaled as if they were the whole of a step.
Step step_of(const std::vector<GlobalBatch>& parts) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1);
  accumulate(model, parts);
  return {gradients_of(model.parameters()), test.memory.category_peaks()[Category::activations]};
}

NamedValues scaled(NamedValues named, double factor) {
  for (auto& [name, values] : named)
    for (double& value : values) value *= factor;
  return named;
}

void every_micro_batch_counts(Judge& judge) {
  const GlobalBatch batch = uneven_batch(kSize, 8, 1);
  const std::vector<GlobalBatch> parts = micro_batches(batch, 4);
  const double share = parts.back().valid_tokens() / batch.valid_tokens();
  judge.now("L2 D12 H3 T7 V11, f64, 8 sequences in 4 micro-batches");
  judge.equal("gradient", step_of(parts).gradients, step_of({batch}).gradients, 1e-10, 1e-6,
              {.letters = {{"M", 4}},
               .equal_to = {{"the last micro-batch's part alone",
                             scaled(step_of({parts.back()}).gradients, share)}}});
}

void one_micro_batch_is_alive(Judge& judge) {
  const GlobalBatch batch = uneven_batch(kSize, 8, 1);
  const std::vector<GlobalBatch> parts = micro_batches(batch, 4);
  judge.now("L2 D12 H3 T7 V11, f64, 8 sequences in 4 micro-batches of 2");
  judge.equal("the peak of activations in bytes",
              static_cast<double>(step_of(parts).activation_bytes),
              static_cast<double>(step_of({parts.front()}).activation_bytes), 0,
              {.letters = {{"M", 4}},
               .equal_to = {{"what all micro-batches leave together",
                             {{"", {static_cast<double>(step_of({batch}).activation_bytes)}}}}}});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 04",
    .hint = "./shardlings show 04",
    .again = "./shardlings test -R exercise_04.healthy",
    .checks = {{"lesson 04", "every micro-batch adds to the gradients", every_micro_batch_counts},
               {"lesson 04", "activations of one micro-batch are alive at a time",
                one_micro_batch_is_alive}}};
