// An exam of lesson 02's own code: what is kept, and until when. No loss shows it.
#include "lessons/02_activation_memory/attention_blocks.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/judge.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson02;

namespace {

constexpr ModelSize kSize{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11};
constexpr std::int64_t kSequences = 3;
constexpr std::string_view kText = "L2 D12 H3 T7 V11, f64, 3 sequences, --scores stored";

void nothing_is_left_behind(Judge& judge) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1, blocks_with("stored"));
  const auto left_after_step = [&](std::uint64_t seed) {
    loss_and_gradients(model, random_batch(kSize, kSequences, seed), test);
    const MemoryUse& now = test.memory.now();
    return now[Category::activations] + now[Category::workspace];
  };
  judge.now(fmt::format("{}, two steps", kText));
  const std::int64_t first = left_after_step(1), second = left_after_step(2);
  judge.holds(
      first == 0 && second == 0,
      {.quantity = "activations and workspace between steps",
       .expected = "0 bytes after either step",
       .measured = fmt::format("{} bytes after the first step, {} after the second", first, second),
       .suggests = second > first ? "each step leaves its own behind"
                                  : "something of the last step lives on"});
}

void every_tensor_is_saved_once(Judge& judge) {
  const TestDevice test("cpu", DType::f64, 1);
  Gpt model(test.device(), test.dtype, kSize, 1, blocks_with("stored"));
  SavedTensors saved;
  model.forward(to_device(random_batch(kSize, kSequences, 1), test.device(), test.dtype), saved);
  const double L = kSize.L, D = kSize.D, H = kSize.H, T = kSize.T, V = kSize.V, B = kSequences;
  const double block = 8 * B * T * (16 * D + 4 + H) + 8 * B * H * T * T;
  judge.now(std::string(kText));
  judge.equal("bytes held between forward and backward",
              static_cast<double>(test.memory.now()[Category::activations]),
              L * block + 8 * B * T * (2 * D + V + 4) + 12 * B * T, 0,
              {.differs_by = {{"a tensor of B T D in every block", {{"", {8 * L * B * T * D}}}}}});
}

}  // namespace

const Exam shardlings::kExam{
    .name = "lesson 02",
    .hint = "./shardlings show 02",
    .again = "./shardlings test -R exercise_02.healthy",
    .checks = {{"lesson 02", "a step leaves nothing behind", nothing_is_left_behind},
               {"lesson 02", "every tensor is saved once", every_tensor_is_saved_once}}};
