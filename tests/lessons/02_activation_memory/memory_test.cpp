// What is kept, by whom, and when it is most: against closed forms, for all that may become of the
// scores.
#include "lessons/02_activation_memory/attention_blocks.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson02;

namespace {

std::int64_t scores_bytes(const Configuration& c) {
  return bytes_per_element(c.dtype) * c.B * c.size.H * c.size.T * c.size.T;
}

std::int64_t saved_bytes(const Configuration& c, bool stored) {
  const auto [L, D, H, T, V] = c.size;
  const std::int64_t a = bytes_per_element(c.dtype);
  const std::int64_t block = a * c.B * T * (16 * D + 4 + H) + (stored ? scores_bytes(c) : 0);
  return L * block + a * c.B * T * (2 * D + V + 4) + 12 * c.B * T;
}

}  // namespace

TEST_CASE("the peaks equal their closed forms") {
  const Configuration c = GENERATE(from_range(kConfigurations));
  const std::string scores = GENERATE("stored", "tiled", "plain");
  CAPTURE(c.size.L, c.size.D, c.B, scores);
  const TestDevice test("cpu", c.dtype);
  Gpt model(test.device(), c.dtype, c.size, 1, blocks_with(scores));
  const Parameters parameters = model.parameters();
  Optimizer optimizer(parameters, 0.1);
  for (std::uint64_t step = 0; step < 3; ++step) {
    loss_and_gradients(model, random_batch(c.size, c.B, step), test);
    optimizer.step(1e-2);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
    CHECK(test.memory.now()[Category::activations] == 0);
    CHECK(test.memory.now()[Category::workspace] == 0);
  }
  const std::int64_t saved = saved_bytes(c, scores == "stored");
  const std::int64_t model_bytes =
      4 * bytes_per_element(c.dtype) * count_elements(parameters);  // value, gradient, two moments
  CHECK(test.memory.category_peaks()[Category::activations] == saved);
  CHECK(test.memory.at_joint_peak().model_and_activations() == model_bytes + saved);
}

TEST_CASE("stored scores belong to one owner per block") {
  const Configuration c{{.L = 3, .D = 12, .H = 3, .T = 17, .V = 11}, 2, DType::f32};
  const std::string scores = GENERATE("stored", "tiled", "plain");
  const TestDevice test("cpu", c.dtype);
  Gpt model(test.device(), c.dtype, c.size, 1, blocks_with(scores));
  SavedTensors saved;
  model.forward(to_device(random_batch(c.size, c.B, 1), test.device(), c.dtype), saved);
  std::int64_t owners = 0;
  for (const OwnerBytes& owner : test.memory.owners())
    if (owner.owner.ends_with(".attn.scores")) {
      ++owners;
      CHECK(owner.category == Category::activations);
      CHECK(owner.bytes == scores_bytes(c));
    }
  CHECK(owners == (scores == "stored" ? c.size.L : 0));
}

TEST_CASE("without backward, the scores of one block are there at a time") {
  const Configuration c{{.L = 8, .D = 12, .H = 3, .T = 48, .V = 11}, 2, DType::f32};
  const TestDevice test("cpu", c.dtype);
  Gpt model(test.device(), c.dtype, c.size, 1, blocks_with("stored"));
  const std::int64_t before = test.memory.now().total();
  loss_only(model, random_batch(c.size, c.B, 1), test);
  CHECK(test.memory.peak_bytes() - before > scores_bytes(c));
  CHECK(test.memory.peak_bytes() - before < 2 * scores_bytes(c));
}

TEST_CASE("stored scores spare the device one product of seven, plain ones two") {
  const Configuration c{{.L = 2, .D = 12, .H = 3, .T = 7, .V = 11}, 3, DType::f32};
  const auto [L, D, H, T, V] = c.size;
  for (const auto& [scores, products] : std::vector<std::pair<std::string, std::int64_t>>{
           {"stored", 6}, {"tiled", 7}, {"plain", 5}}) {
    const TestDevice test("cpu", c.dtype);
    Gpt model(test.device(), c.dtype, c.size, 1, blocks_with(scores));
    loss_and_gradients(model, random_batch(c.size, c.B, 1), test);
    CHECK(test.work.total().executed_flops ==
          6 * c.B * T * (12 * L * D * D + V * D) + products * L * c.B * T * (T + 1) * D);
  }
}
