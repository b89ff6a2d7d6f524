// Replicas against lesson 01: the same losses, gradients, norms and weights on any number of ranks,
// however unevenly the tokens count.
//
// Each of these was broken once, and the test named failed:
//   a scale per rank (mean of the ranks' means)   "training equals lesson 01's"
//   the last bucket not reduced                   "training equals lesson 01's"
//   samples of rank 0 on every rank               "the ranks' samples are the global batch"
//   a gradient of its own beside the bucket       "gradients are views of the buckets"
//   the hash of the first parameter alone         "replicas that differ in one bit are seen"
#include <algorithm>
#include <cstring>

#include "tests/lessons/10_data_parallel/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using namespace shardlings::lesson10;

namespace {

// On n ranks as threads; every rank's training has to differ from `expected` by nothing.
void require_on_ranks(int n, const TrainingCase& settings, const Training& expected,
                      double tolerance, const std::string& backend = "cpu") {
  on_ranks(n, small_world(backend), [&](World& world) {
    Gpt model(world.device(), settings.dtype, settings.size, 1);
    const Parameters parameters = model.parameters();
    make_uneven(parameters);
    const std::vector<Tensor> buckets = make_gradient_buckets(parameters, settings.bucket);
    WeightGradients weights;
    const Training got = train(model, settings, [&](const GlobalBatch& batch) {
      const double tokens = batch.valid_tokens();
      const double loss_sum =
          add_gradients(model, weights, own_samples(batch, world.dp()), settings.M, 1 / tokens);
      all_reduce_gradients(buckets, world.dp());
      return world.dp().sum(loss_sum) / tokens;
    });
    const std::string text = difference(got, expected, tolerance);
    require(text.empty(), "rank {} of {}: {}", world.rank(), n, text);
    require(replicas_are_equal(parameters, world.dp()), "replicas differ");
  });
}

}  // namespace

TEST_CASE("training equals lesson 01's: losses, norms, every gradient, weights") {
  const std::int64_t sequences = GENERATE(8, 5);
  const double clip = GENERATE(0.5, 1e3);
  const Training expected = train_as_lesson_01({.sequences = sequences, .clip = clip});
  for (const int n : {1, 2, 3, 4})
    for (const std::int64_t M : {1, 3})
      for (const std::int64_t bucket : {37, 500, 100'000}) {
        if (bucket == 37 && (n != 3 || M != 1)) continue;  // hundreds of messages
        CAPTURE(sequences, clip, n, M, bucket);
        require_on_ranks(n, {.sequences = sequences, .M = M, .bucket = bucket, .clip = clip},
                         expected, 1e-10);
      }
}

TEST_CASE("in f32 and on the guarded device too") {
  const TrainingCase settings{.dtype = DType::f32, .sequences = 5, .M = 2};
  const Training expected = train_as_lesson_01(settings);
  require_on_ranks(3, settings, expected, 1e-5);
  require_on_ranks(3, settings, expected, 1e-5, "guarded");
}

TEST_CASE("a large model of uneven sizes, on four ranks") {
  const TrainingCase settings{.size = {.L = 8, .D = 72, .H = 24, .T = 48, .V = 61},
                              .sequences = 6,
                              .bucket = 100'000,
                              .steps = 1};
  require_on_ranks(4, settings, train_as_lesson_01(settings), 1e-10);
}

// One valid token on rank 0, nine on rank 1: a batch of ten.
TEST_CASE("ranks count by their tokens") {
  const ModelSize size{.L = 1, .D = 8, .H = 2, .T = 9, .V = 11};
  GlobalBatch batch = random_batch(size, 2, 1);
  std::ranges::fill(batch.weights_BT, 1);
  std::fill_n(batch.weights_BT.begin(), 8, 0);
  REQUIRE(batch.valid_tokens() == 10);
  const TestDevice test("cpu", DType::f64, 1);
  Gpt whole(test.device(), DType::f64, size, 1);
  const double expected_loss = loss_and_gradients(whole, batch, test);
  const NamedValues expected = gradients_of(whole.parameters());

  on_ranks(2, small_world(), [&](World& world) {
    Gpt model(world.device(), DType::f64, size, 1);
    const std::vector<Tensor> buckets = make_gradient_buckets(model.parameters(), 300);
    WeightGradients weights;
    const GlobalBatch own = own_samples(batch, world.dp());
    require(own.valid_tokens() == (world.rank() == 0 ? 1 : 9), "{} tokens", own.valid_tokens());
    const double loss =
        world.dp().sum(add_gradients(model, weights, own, 1, 0.1)) / batch.valid_tokens();
    all_reduce_gradients(buckets, world.dp());
    require(std::abs(loss / expected_loss - 1) < 1e-12, "loss {}, not {}", loss, expected_loss);
    const std::string text = gradient_difference(gradients_of(model.parameters()), expected, 1e-10);
    require(text.empty(), "{}", text);
  });
}

TEST_CASE("the ranks' samples are the global batch, in order") {
  const ModelSize size{.L = 1, .D = 8, .H = 1, .T = 3, .V = 11};
  for (const int n : {1, 2, 3, 4})
    for (const std::int64_t sequences : {4, 5, 7, 8}) {
      const GlobalBatch batch = random_batch(size, sequences, 1);
      std::vector<std::vector<std::int32_t>> parts(static_cast<std::size_t>(n));
      on_ranks(n, small_world(), [&](World& world) {
        const GlobalBatch own = own_samples(batch, world.dp());
        require(own.sequences == sequences / n || own.sequences == sequences / n + 1,
                "{} sequences", own.sequences);
        parts[static_cast<std::size_t>(world.rank())] = own.tokens_BT;
      });
      std::vector<std::int32_t> joined;
      for (const auto& part : parts) joined.insert(joined.end(), part.begin(), part.end());
      CHECK(joined == batch.tokens_BT);
    }
}

TEST_CASE("gradients are views of the buckets, the last parameter's first") {
  const TestDevice test("cpu", DType::f32, 1);
  Gpt model(test.device(), DType::f32, {.L = 1, .D = 8, .H = 2, .T = 5, .V = 11}, 1);
  const Parameters parameters = model.parameters();
  const std::int64_t P = count_elements(parameters);
  const std::int64_t capacity = GENERATE(1, 100, 10'000);
  const std::vector<Tensor> buckets = make_gradient_buckets(parameters, capacity);
  CHECK(test.memory.now()[Category::gradients] == 4 * P);
  CHECK(std::ssize(buckets) == (P + capacity - 1) / capacity);
  double number = 0;
  for (const Tensor& bucket : buckets) {
    std::vector<double> values(static_cast<std::size_t>(bucket.elements()));
    for (double& value : values) value = ++number;
    bucket.from_doubles(values);
  }
  REQUIRE(number == static_cast<double>(P));
  number = 0;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    CHECK((*parameter)->gradient.shape() == (*parameter)->value.shape());
    CHECK_FALSE((*parameter)->has_gradient());
    for (const double value : (*parameter)->gradient.to_doubles()) REQUIRE(value == ++number);
  }
}

TEST_CASE("replicas that differ in one bit are seen") {
  const auto verdicts = [](bool differ) {
    bool equal = false;
    on_ranks(3, small_world(), [&](World& world) {
      Gpt model(world.device(), DType::f32, {.L = 1, .D = 8, .H = 2, .T = 5, .V = 11}, 1);
      const Parameters parameters = model.parameters();
      if (differ && world.rank() == 1) {
        std::vector<double> values = parameters.back()->value.to_doubles();
        values.back() = std::nextafter(static_cast<float>(values.back()), 1.0F);
        parameters.back()->value.from_doubles(values);
      }
      const bool its = replicas_are_equal(parameters, world.dp());
      if (world.rank() == 2) equal = its;
    });
    return equal;
  };
  CHECK(verdicts(false));
  CHECK_FALSE(verdicts(true));
}

TEST_CASE("fewer sequences than ranks are refused") {
  const GlobalBatch batch = random_batch({.L = 1, .D = 8, .H = 1, .T = 3, .V = 11}, 2, 1);
  CHECK_THROWS_WITH(
      on_ranks(3, small_world(), [&](World& world) { own_samples(batch, world.dp()); }),
      "--batch 2: 3 ranks need at least one sequence each");
}
