// An exam of lesson 03's own code, for faults that leave the losses as they are.
#include "lessons/03_checkpointing/checkpointing.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson03;

namespace {

constexpr ModelSize kSize{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};
constexpr std::int64_t kSequences = 3;

struct Step {
  double loss;
  NamedValues gradients;
  Work work;
};

Step step(const Plan& plan) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1, blocks_with(plan));
  recompute_segments(model.blocks(), plan);
  const Parameters parameters = model.parameters();
  make_uneven(parameters);
  const double loss = loss_and_gradients(model, random_batch(kSize, kSequences, 1), test);
  return {loss, gradients_of(parameters), test.work.total()};
}

// "attn.c_attn.weight, mlp.c_fc.weight" of the first block.
std::string names_of_different(const NamedValues& some, const NamedValues& others) {
  std::string names;
  for (const auto& [name, values] : others)
    if (name.starts_with("h.0.") && some.at(name) != values)
      names += (names.empty() ? "" : ", ") + name.substr(4);
  return names;
}

void gradients_stay(Judge& judge) {
  judge.now("L2 D12 H3 T7 V11, f64, selective recomputation against none, scores in tiles");
  const Step none = step({}), selective = step({.selective = true});
  judge.equal("loss", selective.loss, none.loss, 0);
  judge.holds(selective.gradients == none.gradients,
              {.quantity = "gradients of block 0",
               .expected = "equal to the last bit",
               .measured = "different: " + names_of_different(selective.gradients, none.gradients),
               .suggests = "the right d_Y was multiplied with another X than forward's"});
}

void model_flops_stay(Judge& judge) {
  judge.now("L2 D12 H3 T7 V11, f64, every block recomputed against none");
  const Work none = step({}).work, full = step({.blocks_per_segment = 1}).work;
  judge.holds(full.model_flops == none.model_flops,
              {.quantity = "model FLOPs of a step",
               .expected = fmt::format("{}", none.model_flops),
               .measured = fmt::format("{}", full.model_flops),
               .suggests = "what is done a second time counts as work of the model: a utilisation "
                           "of the hardware, quoted as the model's"});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 03",
    .hint = "./shardlings show 03",
    .again = "./shardlings test -R exercise_03.healthy",
    .checks = {{"lesson 03", "selective recomputation changes no gradient", gradients_stay},
               {"lesson 03", "recomputation is no work of the model", model_flops_stay}}};
