// Accumulation against lesson 01: the same losses, gradients, norms and weights for any number of
// micro-batches, however unevenly their tokens count; activations of the largest part alone.
//
// Each of these was broken once, and the test named failed:
//   a scale per micro-batch (mean of means)         "three steps equal lesson 01's"
//   gradients cleared between micro-batches         "three steps equal lesson 01's"
//   all forwards before the first backward          "activations are those of the largest part"
//   a slice that starts one sequence late           "the parts are the batch"
//   a mask drawn from the position in the batch     "a mask belongs to the sample"
#include <algorithm>
#include <cmath>

#include "lessons/04_gradient_accumulation/answers.h"
#include "tests/lessons/04_gradient_accumulation/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson04;

namespace {

constexpr ModelSize kSize{.L = 2, .D = 15, .H = 5, .T = 7, .V = 11};

std::vector<std::int64_t> sizes_of(const std::vector<GlobalBatch>& parts) {
  std::vector<std::int64_t> sizes;
  for (const GlobalBatch& part : parts) sizes.push_back(part.sequences);
  return sizes;
}

struct StepMade {
  double loss, norm;
  NamedValues gradients;  // before clipping
};

// A model with its optimizer, which makes a step as train_step does.
struct Training {
  Training(std::string_view kind, DType dtype, const ModelSize& size)
      : test(kind, dtype, 1), model(test.device(), dtype, size, 1), optimizer(parameters, 0.1) {
    make_uneven(parameters);
  }

  // M == 0: lesson 01's step, on the whole batch.
  StepMade step(const GlobalBatch& batch, std::int64_t M) {
    const double loss = M == 0 ? loss_and_gradients(model, batch, test)
                               : accumulate(model, micro_batches(batch, M));
    NamedValues gradients = gradients_of(parameters);
    const double norm = clip_gradients(parameters, 0.5);
    optimizer.step(1e-2);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
    return {loss, norm, std::move(gradients)};
  }

  // All but the key biases: their true gradient is zero, and AdamW turns its rounding into steps.
  NamedValues weights() const {
    NamedValues values = weights_of(parameters);
    std::erase_if(values, [](const auto& entry) { return entry.first.ends_with("c_attn.bias"); });
    return values;
  }

  TestDevice test;
  Gpt model;
  Parameters parameters = model.parameters();
  Optimizer optimizer;
};

// Elements that forward of B sequences leaves for backward, as lesson 01 counts them.
std::int64_t saved_bytes(const ModelSize& s, std::int64_t B, std::int64_t a) {
  return a * B * s.T * (s.L * (16 * s.D + 4 + s.H) + 2 * s.D + s.V + 4) + 12 * B * s.T;
}

}  // namespace

TEST_CASE("the parts are the batch, cut as evenly as whole sequences allow") {
  GlobalBatch batch = uneven_batch(kSize, 10, 1);
  batch.step = 4;
  batch.first_sample = 40;
  CHECK(sizes_of(micro_batches(batch, 1)) == std::vector<std::int64_t>{10});
  CHECK(sizes_of(micro_batches(batch, 4)) == std::vector<std::int64_t>{2, 3, 2, 3});
  CHECK(sizes_of(micro_batches(batch, 5)) == std::vector<std::int64_t>(5, 2));
  CHECK(sizes_of(micro_batches(batch, 99)) == std::vector<std::int64_t>(10, 1));
  CHECK_THROWS_AS(micro_batches(batch, 0), Error);
  CHECK_THROWS_AS(sequences_of(batch, 3, 11), Error);

  for (const std::int64_t M : {1, 2, 3, 4, 10}) {
    GlobalBatch joined;
    double tokens = 0;
    for (const GlobalBatch& part : micro_batches(batch, M)) {
      CHECK(part.step == 4);
      CHECK(part.T == batch.T);
      CHECK(part.first_sample == 40 + static_cast<std::uint64_t>(joined.sequences));
      joined.sequences += part.sequences;
      tokens += part.valid_tokens();
      for (std::size_t i = 0; i < part.tokens_BT.size(); ++i) {
        joined.tokens_BT.push_back(part.tokens_BT.at(i));
        joined.targets_BT.push_back(part.targets_BT.at(i));
        joined.positions_BT.push_back(part.positions_BT.at(i));
        joined.weights_BT.push_back(part.weights_BT.at(i));
      }
    }
    CHECK(joined.sequences == 10);
    CHECK(tokens == batch.valid_tokens());
    CHECK(joined.tokens_BT == batch.tokens_BT);
    CHECK(joined.targets_BT == batch.targets_BT);
    CHECK(joined.positions_BT == batch.positions_BT);
    CHECK(joined.weights_BT == batch.weights_BT);
  }
}

TEST_CASE("three steps equal lesson 01's: losses, norms, every gradient, weights") {
  const std::int64_t sequences = GENERATE(8, 5);
  const std::int64_t M = GENERATE(1, 2, 3, 4, 8);
  const auto [dtype, tolerance] =
      GENERATE(table<DType, double>({{DType::f64, 1e-10}, {DType::f32, 1e-5}}));
  CAPTURE(sequences, M, name_of(dtype));
  Training whole("cpu", dtype, kSize), parts("cpu", dtype, kSize);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const GlobalBatch batch = uneven_batch(kSize, sequences, i);
    const StepMade expected = whole.step(batch, 0), got = parts.step(batch, M);
    CHECK(got.loss == Approx(expected.loss).epsilon(tolerance));
    CHECK(got.norm == Approx(expected.norm).epsilon(tolerance));
    CHECK(gradient_difference(got.gradients, expected.gradients, tolerance) == "");
  }
  if (dtype == DType::f64)
    CHECK(weight_difference(parts.weights(), whole.weights(), tolerance, 1e-2) == "");
}

TEST_CASE("one micro-batch is lesson 01 to the last bit, and devices agree") {
  const DType dtype = GENERATE(DType::f32, DType::f64);
  const GlobalBatch batch = uneven_batch(kSize, 5, 1);
  const auto gradients = [&](std::string_view kind, std::int64_t M) {
    return Training(kind, dtype, kSize).step(batch, M).gradients;
  };
  CHECK((gradients("cpu", 1) == gradients("cpu", 0)));
  CHECK((gradients("guarded", 3) == gradients("cpu", 3)));
}

TEST_CASE("the mean of the micro-batches' means is another gradient") {
  const GlobalBatch batch = uneven_batch(kSize, 6, 1);
  Training whole("cpu", DType::f64, kSize), means("cpu", DType::f64, kSize);
  const NamedValues expected = whole.step(batch, 0).gradients;
  WeightGradients weights;
  const std::vector<GlobalBatch> parts = micro_batches(batch, 3);
  for (const GlobalBatch& part : parts) {
    SavedTensors saved;
    means.model.forward(to_device(part, means.test.device(), DType::f64), saved);
    means.model.backward(1 / (3 * part.valid_tokens()), saved, weights);
  }
  CHECK(gradient_difference(gradients_of(means.parameters), expected, 1e-2) != "");
}

TEST_CASE("activations are those of the largest part, FLOPs those of the whole batch") {
  struct Configuration {
    ModelSize size;
    std::int64_t sequences, M;
    DType dtype;
  };
  const Configuration c = GENERATE(
      values<Configuration>({{{.L = 1, .D = 8, .H = 1, .T = 3, .V = 3}, 1, 1, DType::f32},
                             {{.L = 1, .D = 10, .H = 2, .T = 5, .V = 11}, 7, 2, DType::f64},
                             {{.L = 2, .D = 12, .H = 3, .T = 7, .V = 64}, 7, 3, DType::f32},
                             {{.L = 3, .D = 15, .H = 5, .T = 9, .V = 29}, 8, 5, DType::f64},
                             {{.L = 2, .D = 33, .H = 11, .T = 65, .V = 7}, 3, 9, DType::f32}}));
  CAPTURE(c.size.L, c.sequences, c.M);
  Training training("cpu", c.dtype, c.size);
  for (std::uint64_t i = 0; i < 3; ++i) training.step(uneven_batch(c.size, c.sequences, i), c.M);

  const std::int64_t w = bytes_per_element(c.dtype), P = count_elements(training.parameters);
  const std::int64_t saved = saved_bytes(c.size, (c.sequences + c.M - 1) / c.M, w);
  const MemoryLedger& memory = training.test.memory;
  CHECK(memory.category_peaks()[Category::gradients] == w * P);
  CHECK(memory.category_peaks()[Category::activations] == saved);
  CHECK(memory.at_joint_peak().model_and_activations() == 4 * w * P + saved);
  CHECK(memory.now()[Category::activations] == 0);
  CHECK(memory.now()[Category::workspace] == 0);

  Training whole("cpu", c.dtype, c.size);
  for (std::uint64_t i = 0; i < 3; ++i) whole.step(uneven_batch(c.size, c.sequences, i), 0);
  CHECK(training.test.work.total().model_flops == whole.test.work.total().model_flops);
  CHECK(training.test.work.total().executed_flops == whole.test.work.total().executed_flops);
}

TEST_CASE("a mask belongs to the sample, whoever holds it") {
  GlobalBatch batch = random_batch({.L = 1, .D = 8, .H = 1, .T = 40, .V = 11}, 400, 1);
  batch.first_sample = 1000;
  std::ranges::fill(batch.weights_BT, 1);
  GlobalBatch part = sequences_of(batch, 100, 103);
  keep_answers(batch, 5);
  keep_answers(part, 5);
  CHECK(part.weights_BT == sequences_of(batch, 100, 103).weights_BT);
  keep_answers(part, 6);
  CHECK(part.weights_BT != sequences_of(batch, 100, 103).weights_BT);

  std::int64_t shorter = 0, longer = 0;
  for (const GlobalBatch& sequence : micro_batches(batch, 400)) {
    const auto answer = static_cast<std::int64_t>(sequence.valid_tokens());
    REQUIRE(answer >= 1);
    std::vector<double> weights(static_cast<std::size_t>(40 - answer), 0);
    weights.resize(40, 1);
    CHECK(sequence.weights_BT == weights);  // a prompt, then an answer
    shorter += answer <= 5 ? 1 : 0;
    longer += answer > 20 ? 1 : 0;
  }
  CHECK(shorter > 150);
  CHECK(shorter < 250);
  CHECK(longer > 50);
  CHECK(longer < 120);
}

TEST_CASE("the floor of a batch is the mean of its parts' floors, weighted by valid tokens") {
  GlobalBatch batch = uneven_batch(kSize, 8, 1);
  CHECK(std::isnan(batch.floor()));
  for (std::size_t i = 0; i < batch.tokens_BT.size(); ++i)
    batch.nats_BT.push_back(static_cast<double>(i % 5));
  double nats = 0;
  for (const GlobalBatch& part : micro_batches(batch, 3))
    nats += part.floor() * part.valid_tokens();
  CHECK(nats / batch.valid_tokens() == Approx(batch.floor()).epsilon(1e-14));
}
