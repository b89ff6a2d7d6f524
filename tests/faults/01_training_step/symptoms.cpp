// An exam of lesson 01's own code, for the faults that no loss curve shows for what they are.
#include <cmath>

#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

// Fresh random tokens at every step: there is nothing to learn but that all are alike.
void random_tokens_stay_unknown(Judge& judge) {
  const ModelSize size{.L = 1, .D = 16, .H = 2, .T = 16, .V = 32};
  const double knows_nothing = std::log(static_cast<double>(size.V));
  const TestDevice test("cpu", DType::f32, 1);
  Gpt model(test.device(), test.dtype, size, 1);
  const Parameters parameters = model.parameters();
  Optimizer optimizer(parameters, 0.1);
  judge.now("L1 D16 H2 T16 V32, f32, 60 steps on fresh random tokens");
  for (std::uint64_t step = 0; step < 60; ++step) {
    loss_and_gradients(model, random_batch(size, 8, 100 + step), test);
    optimizer.step(2e-2);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
  }
  const double loss = loss_only(model, random_batch(size, 32, 1), test);
  judge.holds(loss > 0.99 * knows_nothing,
              {.quantity = "the loss on tokens it has not seen",
               .expected = fmt::format("at least {:.4f} = ln V", knows_nothing),
               .measured = fmt::format("{:.4f}", loss),
               .suggests = "the answer can be seen in the input"});
}

// What the head adds to a token's row needs no occurrence of the token in the input.
void tied_matrix_has_both_parts(Judge& judge) {
  const ModelSize size{.L = 1, .D = 8, .H = 2, .T = 5, .V = 11};
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, size, 1);
  GlobalBatch batch = random_batch(size, 2, 1);
  for (std::int32_t& token : batch.tokens_BT) token = std::max(token, 1);
  judge.now("L1 D8 H2 T5 V11, f64, a batch whose inputs have no token 0");
  loss_and_gradients(model, batch, test);
  const std::vector<double> all = model.parameters().front()->gradient.to_doubles();
  const double size_of_row = largest({all.begin(), all.begin() + size.D});
  judge.holds(size_of_row > 0, {.quantity = "gradient of wte.weight, row of token 0",
                                .expected = "not 0: the head compares every vector with this row",
                                .measured = "0 everywhere",
                                .suggests = "one of its two uses left nothing behind"});
}

void steps_begin_anew(Judge& judge) {
  const ModelSize size{.L = 1, .D = 8, .H = 2, .T = 5, .V = 11};
  const TestDevice test("cpu", DType::f64, 1);
  const auto gradients_after = [&](const std::vector<std::uint64_t>& batches) {
    Gpt model(test.device(), test.dtype, size, 1);
    const Parameters parameters = model.parameters();
    for (const std::uint64_t batch : batches) {
      for (Parameter* parameter : parameters) parameter->clear_gradient();
      loss_and_gradients(model, random_batch(size, 2, batch), test);
    }
    return gradients_of(parameters);
  };
  judge.now("L1 D8 H2 T5 V11, f64, two steps whose learning rate is 0");
  const NamedValues alone = gradients_after({2});
  NamedValues sum = gradients_after({1});
  for (auto& [name, values] : sum)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += alone.at(name)[i];
  judge.equal(
      "gradient", gradients_after({1, 2}), alone, 1e-12, 1e-6,
      {.equal_to = {{"the sum of this step's gradients and those of the step before", sum}}});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 01",
    .hint = "./shardlings show 01",
    .again = "./shardlings test -R exercise_01.healthy",
    .checks = {{"lesson 01", "nothing can predict random tokens", random_tokens_stay_unknown},
               {"lesson 01", "the tied matrix has a gradient from both of its uses",
                tied_matrix_has_both_parts},
               {"lesson 01", "a step begins its gradients anew", steps_begin_anew}}};
