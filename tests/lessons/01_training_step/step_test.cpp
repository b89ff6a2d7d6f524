// What a training step keeps, computes and never changes: memory and FLOPs against closed forms,
// bitwise results over threads and devices, optimizer, schedule, clipping, and the loss of knowing
// nothing.
#include <cmath>

#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

std::int64_t parameter_count(const ModelSize& s) {
  return s.V * s.D + s.T * s.D + s.L * (12 * s.D * s.D + 13 * s.D) + 2 * s.D;
}

// Elements a block leaves for backward: 16 B T D of matrices (its input, two norms' outputs, q k v,
// the attention's output, the middle of the stream, and 4 + 4 around GELU), two statistics per norm
// and token, one log-sum-exp per head and token.
std::int64_t block_elements(const ModelSize& s, std::int64_t B) {
  return B * s.T * (16 * s.D + 4 + s.H);
}

// The head: its input, the norm's output, logits, two statistics, log-sum-exp and weight per token.
std::int64_t head_elements(const ModelSize& s, std::int64_t B) {
  return B * s.T * (2 * s.D + s.V + 4);
}

struct Step {
  explicit Step(const Configuration& c, std::string_view kind = "cpu", int threads = 2)
      : test(kind, c.dtype, threads),
        model(test.device(), c.dtype, c.size, 1),
        parameters(model.parameters()),
        optimizer(parameters, 0.1) {}

  double run(const GlobalBatch& batch) {
    const double loss = loss_and_gradients(model, batch, test);
    clip_gradients(parameters, 1);
    optimizer.step(1e-2);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
    return loss;
  }

  TestDevice test;
  Gpt model;
  Parameters parameters;
  Optimizer optimizer;
};

}  // namespace

TEST_CASE("bytes of every category equal their closed forms") {
  const Configuration c = GENERATE(from_range(kConfigurations));
  CAPTURE(c.size.L, c.size.D, c.B);
  Step step(c);
  for (std::uint64_t i = 0; i < 3; ++i) step.run(random_batch(c.size, c.B, i));
  const std::int64_t w = bytes_per_element(c.dtype), P = parameter_count(c.size);
  const MemoryUse& peaks = step.test.memory.category_peaks();
  CHECK(count_elements(step.parameters) == P);
  CHECK(peaks[Category::parameters] == w * P);
  CHECK(peaks[Category::gradients] == w * P);
  CHECK(peaks[Category::optimizer] == 2 * w * P);
  const std::int64_t index_bytes = 3 * 4 * c.B * c.size.T;  // tokens, positions, targets
  CHECK(peaks[Category::activations] ==
        w * (c.size.L * block_elements(c.size, c.B) + head_elements(c.size, c.B)) + index_bytes);
  CHECK(step.test.memory.now()[Category::activations] == 0);
  CHECK(step.test.memory.now()[Category::workspace] == 0);
}

TEST_CASE("counted FLOPs equal 6 tokens (12 L D^2 + V D) + 12 L T D tokens") {
  const Configuration c = GENERATE(from_range(kConfigurations));
  CAPTURE(c.size.L, c.size.D, c.B);
  Step step(c);
  step.run(random_batch(c.size, c.B, 1));
  const auto [L, D, H, T, V] = c.size;
  const std::int64_t tokens = c.B * T;
  const std::int64_t products = 6 * tokens * (12 * L * D * D + V * D);
  CHECK(step.test.work.total().model_flops == products + 12 * L * T * D * tokens);
  // Really done: the causal half of the pairs, 2 products forward and 5 backward of 2 D FLOPs each.
  CHECK(step.test.work.total().executed_flops == products + L * c.B * (T * (T + 1) / 2) * 14 * D);
}

TEST_CASE("weights do not depend on threads or device, to the last bit") {
  const DType dtype = GENERATE(DType::f32, DType::f64);
  const Configuration c{{.L = 2, .D = 72, .H = 24, .T = 67, .V = 61}, 3, dtype};
  const auto train = [&](std::string_view kind, int threads) {
    Step step(c, kind, threads);
    for (std::uint64_t i = 0; i < 3; ++i) step.run(random_batch(c.size, c.B, i));
    return weights_of(step.parameters);
  };
  const NamedValues expected = train("cpu", 1);
  CHECK((train("cpu", 2) == expected));
  CHECK((train("cpu", 3) == expected));
  CHECK((train("guarded", 2) == expected));
}

TEST_CASE("initial values depend on seed, name and global index alone") {
  const TestDevice test("cpu", DType::f64);
  const Init init{.deviation = 0.02};
  Parameter whole = whole_parameter(test.device(), test.dtype, "w", {6, 5}, init);
  initialise(whole, 4);
  const std::vector<double> all = whole.value.to_doubles();

  Parameter shard = whole_parameter(test.device(), test.dtype, "w", {3, 2}, init);
  shard.global_shape = {6, 5};
  shard.box = {.first_row = 2, .rows = 3, .first_column = 3, .columns = 2};
  initialise(shard, 4);
  const std::vector<double> part = shard.value.to_doubles();
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t col = 0; col < 2; ++col)
      CHECK(part[r * 2 + col] == all[(r + 2) * 5 + col + 3]);

  Parameter piece = shard;  // the last of its rows, and the element before
  piece.range = {3, 6};
  piece.value = {};
  initialise(piece, 4);
  CHECK(piece.value.shape() == Shape{3});
  CHECK(piece.value.to_doubles() == std::vector<double>(part.begin() + 3, part.end()));
}

TEST_CASE("an untrained model loses ln V") {
  const Configuration c{{.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, 4, DType::f32};
  Step step(c);
  CHECK(loss_only(step.model, random_batch(c.size, c.B, 1), step.test) ==
        Approx(std::log(256.0)).epsilon(0.01));
}

TEST_CASE("random bytes cannot be learned below ln 256 on fresh data") {
  // A loss below it would mean that the target can be seen in the input.
  const Configuration c{{.L = 2, .D = 32, .H = 4, .T = 32, .V = 256}, 8, DType::f32};
  Step step(c);
  for (std::uint64_t i = 0; i < 60; ++i) step.run(random_batch(c.size, c.B, 100 + i));
  CHECK(loss_only(step.model, random_batch(c.size, 32, 1), step.test) > 0.995 * std::log(256.0));
}

TEST_CASE("one batch can be learned by heart") {
  const Configuration c{{.L = 2, .D = 32, .H = 4, .T = 32, .V = 256}, 2, DType::f32};
  Step step(c);
  const GlobalBatch batch = random_batch(c.size, c.B, 1);
  double loss = 0;
  for (int i = 0; i < 60; ++i) loss = step.run(batch);
  CHECK(loss < 0.5);
}

TEST_CASE("AdamW: the first update is the learning rate, whatever the gradient's size") {
  const TestDevice test("cpu", DType::f64);
  Parameter matrix = whole_parameter(test.device(), test.dtype, "matrix", {1, 3}, {});
  Parameter vector = whole_parameter(test.device(), test.dtype, "vector", {3}, {});
  Parameters parameters{&matrix, &vector};
  for (Parameter* parameter : parameters) {
    initialise(*parameter, 1);
    parameter->value.from_doubles(std::vector<double>{1, 1, 1});
    parameter->open_gradient();
    parameter->gradient.from_doubles(std::vector<double>{0, 4, -1e-6});
  }
  Optimizer optimizer(parameters, 0.1);
  optimizer.step(0.1);
  const std::vector<double> w = matrix.value.to_doubles(), b = vector.value.to_doubles();
  CHECK(w[0] == Approx(0.99).epsilon(1e-12));  // decay alone, on matrices alone
  CHECK(b[0] == 1);
  CHECK(b[1] == Approx(0.9).epsilon(1e-8));
  CHECK(b[2] == Approx(1 + 0.1 * 0.990099).epsilon(1e-6));  // epsilon stands outside the root
}

TEST_CASE("the schedule warms up linearly and falls to a tenth") {
  const Schedule schedule{.peak = 1, .warmup_steps = 10, .total_steps = 110};
  CHECK(schedule.learning_rate(1) == Approx(0.1));
  CHECK(schedule.learning_rate(10) == Approx(1));
  CHECK(schedule.learning_rate(60) == Approx(0.55));
  CHECK(schedule.learning_rate(110) == Approx(0.1));
  CHECK(schedule.learning_rate(500) == Approx(0.1));
  const Schedule no_warmup{.peak = 1, .warmup_steps = 0, .total_steps = 1};
  CHECK(std::isfinite(no_warmup.learning_rate(1)));
}

TEST_CASE("a parameter that backward did not reach is named") {
  const TestDevice test("cpu", DType::f32);
  Parameter lonely = whole_parameter(test.device(), test.dtype, "lonely.weight", {3}, {});
  initialise(lonely, 1);
  Optimizer optimizer({&lonely}, 0);
  CHECK_THROWS_WITH(optimizer.step(1), Catch::Contains("lonely.weight has no gradient"));
}

TEST_CASE("backward that takes more than forward saved is told") {
  SavedTensors saved;
  CHECK_THROWS_WITH(saved.pop(), Catch::Contains("more tensors than forward saved"));
}
