// Whatever becomes of the scores, training is that of lesson 01: losses, every named gradient, its
// norm, and the weights after three steps.
#include <cmath>

#include "lessons/02_activation_memory/attention_blocks.h"
#include "lessons/02_activation_memory/stored_attention.h"
#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson02;

namespace {

// One key, fewer than one block of keys, exactly two, and one more than four.
const std::vector<ModelSize> kSizes{{.L = 1, .D = 8, .H = 1, .T = 1, .V = 3},
                                    {.L = 2, .D = 12, .H = 3, .T = 7, .V = 11},
                                    {.L = 3, .D = 15, .H = 5, .T = 32, .V = 29},
                                    {.L = 2, .D = 20, .H = 4, .T = 65, .V = 7}};

struct Training {
  std::vector<double> losses, norms;
  NamedValues gradients, weights;  // gradients of the first step; weights after the last
};

struct Subject {
  std::string scores;
  std::string_view device = "cpu";
  int threads = 2;
};

// Three steps of gradient descent, clipped, on batches of three sequences with masked tokens.
Training train(const ModelSize& size, DType dtype, const Subject& subject) {
  const TestDevice test(subject.device, dtype, subject.threads);
  Gpt model(test.device(), dtype, size, 1, blocks_with(subject.scores));
  const Parameters parameters = model.parameters();
  make_uneven(parameters);
  Training result;
  for (std::uint64_t step = 0; step < 3; ++step) {
    result.losses.push_back(loss_and_gradients(model, random_batch(size, 3, step), test));
    if (step == 0) result.gradients = gradients_of(parameters);
    result.norms.push_back(clip_gradients(parameters, 1));
    for (Parameter* parameter : parameters) {
      add_scaled(parameter->value, parameter->gradient, -0.1);
      parameter->clear_gradient();
    }
  }
  result.weights = weights_of(parameters);
  return result;
}

void require_equal(const Training& got, const Training& expected, double tolerance) {
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(got.losses[i] == Approx(expected.losses[i]).epsilon(tolerance));
    CHECK(got.norms[i] == Approx(expected.norms[i]).epsilon(tolerance));
  }
  CHECK(gradient_difference(got.gradients, expected.gradients, tolerance) == "");
  CHECK(weight_difference(got.weights, expected.weights, tolerance, 0.1) == "");
}

}  // namespace

TEST_CASE("stored and plain scores train as lesson 01 does") {
  const auto [dtype, tolerance] =
      GENERATE(table<DType, double>({{DType::f64, 1e-10}, {DType::f32, 1e-5}}));
  const ModelSize size = GENERATE(from_range(kSizes));
  CAPTURE(name_of(dtype), size.T);
  const Training lesson_01 = train(size, dtype, {"tiled"});
  for (const std::string scores : {"stored", "plain"})
    for (const std::string_view device : {"cpu", "guarded"})
      require_equal(train(size, dtype, {scores, device}), lesson_01, tolerance);
}

TEST_CASE("stored scores train equally on any threads and devices, to the last bit") {
  const DType dtype = GENERATE(DType::f32, DType::f64);
  const ModelSize size{.L = 2, .D = 24, .H = 4, .T = 67, .V = 61};
  const NamedValues expected = train(size, dtype, {"stored", "cpu", 1}).weights;
  for (const int threads : {2, 3})
    CHECK((train(size, dtype, {"stored", "cpu", threads}).weights == expected));
  CHECK((train(size, dtype, {"stored", "guarded", 2}).weights == expected));
}

TEST_CASE("what is stored are probabilities of the keys that a query may see") {
  const TestDevice test("cpu", DType::f64);
  const std::int64_t B = 2, T = 5, H = 3;
  const Tensor qkv(test.device(), DType::f64, {B, T, 36}, "qkv");
  std::vector<double> values(static_cast<std::size_t>(qkv.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  qkv.from_doubles(values);
  StoredAttention attention({test.device(), DType::f64, "attn"}, H);
  SavedTensors saved;
  attention.forward(qkv, saved);
  const std::vector<double> p_BHTT = saved.pop().to_doubles();
  REQUIRE(p_BHTT.size() == static_cast<std::size_t>(B * H * T * T));
  for (std::int64_t row = 0; row < B * H * T; ++row) {
    double sum = 0;
    for (std::int64_t key = 0; key < T; ++key) {
      const double p = p_BHTT[static_cast<std::size_t>(row * T + key)];
      CHECK((p > 0) == (key <= row % T));
      sum += p;
    }
    CHECK(sum == Approx(1));
  }
}
