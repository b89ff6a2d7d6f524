// Every gradient against central differences in f64: of each layer alone, with respect to its input
// and each of its parameters, and of the whole model with respect to every element of every
// parameter.
//
// Each of these terms was switched off once, and the tests named failed:
//   Linear d_W, d_b, d_X                           "Linear", "the whole model"
//   LayerNorm d_weight, d_bias, both mean terms    "LayerNorm", "the whole model"
//   Gelu's derivative of the gate                  "Gelu", "the whole model"
//   Attention d_q, d_k, d_v, the row's dot product "Attention", "the whole model"
//   a residual's identity, a residual's branch     "Block", "the whole model"
//   the tied matrix: embedding part, output part   "the whole model"
//   positions; the loss's one-hot; the loss's scale "the whole model"
#include <functional>

#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;

namespace {

constexpr double kTolerance = 1e-7;

Tensor random_tensor(const TestDevice& test, const Shape& shape, const std::string& name) {
  const RandomStream random(5, name);
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  Tensor tensor(test.device(), test.dtype, shape, name);
  tensor.from_doubles(values);
  return tensor;
}

// d loss / d (each element of x).
std::vector<double> differences(const Tensor& x, const std::function<double()>& loss) {
  const std::vector<double> at = x.to_doubles();
  std::vector<double> slope(at.size());
  const double h = 1e-5;
  for (std::size_t i = 0; i < at.size(); ++i) {
    std::vector<double> moved = at;
    moved[i] = at[i] + h;
    x.from_doubles(moved);
    const double above = loss();
    moved[i] = at[i] - h;
    x.from_doubles(moved);
    slope[i] = (above - loss()) / (2 * h);
  }
  x.from_doubles(at);
  return slope;
}

Parameters parameters_of(Layer& layer) {
  Parameters parameters;
  layer.visit([&](Parameter& parameter) { parameters.push_back(&parameter); });
  return parameters;
}

// The layer's gradients of loss = sum of c o layer(x), for a fixed random c.
void check_layer(const TestDevice& test, Layer& layer, const Tensor& x, const Shape& y_shape) {
  const Parameters parameters = parameters_of(layer);
  for (Parameter* parameter : parameters) initialise(*parameter, 3);
  make_uneven(parameters);
  const Tensor c = random_tensor(test, y_shape, "c");
  const std::vector<double> c_values = c.to_doubles();
  const auto loss = [&] {
    SavedTensors none = SavedTensors::none();
    const std::vector<double> y = layer.forward(x, none).to_doubles();
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += c_values[i] * y[i];
    return sum;
  };

  SavedTensors saved;
  WeightGradients weights;
  layer.forward(x, saved);
  NamedValues got{{"x", layer.backward(c, saved, weights).to_doubles()}};
  CHECK(saved.is_empty());
  got.merge(gradients_of(parameters));

  NamedValues expected{{"x", differences(x, loss)}};
  for (const Parameter* parameter : parameters)
    expected[parameter->name] = differences(parameter->value, loss);
  CHECK(gradient_difference(got, expected, kTolerance) == "");

  // A second backward adds to the parameters' gradients.
  layer.forward(x, saved);
  layer.backward(c, saved, weights);
  NamedValues doubled = gradients_of(parameters);
  for (auto& [name, values] : doubled)
    for (double& value : values) value /= 2;
  doubled["x"] = expected["x"];
  CHECK(gradient_difference(doubled, expected, kTolerance) == "");
}

constexpr ModelSize kSmall{.L = 2, .D = 12, .H = 3, .T = 5, .V = 11};

}  // namespace

TEST_CASE("Linear: gradients equal differences") {
  const TestDevice test("cpu", DType::f64);
  Linear layer({test.device(), test.dtype, "linear"}, 5, 7, {.deviation = 0.5});
  check_layer(test, layer, random_tensor(test, {2, 3, 5}, "x"), {2, 3, 7});
}

TEST_CASE("LayerNorm: gradients equal differences") {
  const TestDevice test("cpu", DType::f64);
  LayerNorm layer({test.device(), test.dtype, "norm"}, 7);
  check_layer(test, layer, random_tensor(test, {2, 3, 7}, "x"), {2, 3, 7});
}

TEST_CASE("Gelu: gradients equal differences") {
  const TestDevice test("cpu", DType::f64);
  Gelu layer({test.device(), test.dtype, "gelu"});
  check_layer(test, layer, random_tensor(test, {2, 3, 5}, "x"), {2, 3, 5});
}

TEST_CASE("Attention: gradients equal differences") {
  const TestDevice test("cpu", DType::f64);
  Attention layer({test.device(), test.dtype, "attention"}, 3);
  check_layer(test, layer, random_tensor(test, {2, 5, 36}, "x"), {2, 5, 12});
}

TEST_CASE("Attention: a token sees nothing after it") {
  const TestDevice test("cpu", DType::f64);
  Attention layer({test.device(), test.dtype, "attention"}, 3);
  const Tensor x = random_tensor(test, {1, 5, 36}, "x");
  SavedTensors none = SavedTensors::none();
  const std::vector<double> before = layer.forward(x, none).to_doubles();
  std::vector<double> changed = x.to_doubles();
  for (std::size_t i = 3 * 36; i < 4 * 36; ++i) changed[i] += 1;  // token 3
  x.from_doubles(changed);
  const std::vector<double> after = layer.forward(x, none).to_doubles();
  for (std::size_t t = 0; t < 5; ++t)
    for (std::size_t d = 0; d < 12; ++d)
      CHECK((before[t * 12 + d] == after[t * 12 + d]) == (t < 3));
}

TEST_CASE("Block: gradients equal differences") {
  const TestDevice test("cpu", DType::f64);
  Block block({test.device(), test.dtype, "h.0"}, kSmall);
  check_layer(test, block, random_tensor(test, {2, 5, 12}, "x"), {2, 5, 12});
}

TEST_CASE("the whole model: every gradient equals differences") {
  const TestDevice test("cpu", DType::f64);
  Gpt model(test.device(), test.dtype, kSmall, 1);
  const Parameters parameters = model.parameters();
  make_uneven(parameters);
  const GlobalBatch batch = random_batch(kSmall, 3, 17);
  REQUIRE(batch.valid_tokens() < 3 * 5);
  loss_and_gradients(model, batch, test);
  NamedValues expected;
  for (const Parameter* parameter : parameters)
    expected[parameter->name] =
        differences(parameter->value, [&] { return loss_only(model, batch, test); });
  CHECK(gradient_difference(gradients_of(parameters), expected, kTolerance) == "");
}

TEST_CASE("gradients of two halves of a batch add up to the batch's") {
  const TestDevice test("cpu", DType::f64);
  Gpt model(test.device(), test.dtype, kSmall, 1);
  const Parameters parameters = model.parameters();
  const GlobalBatch whole = random_batch(kSmall, 4, 23);
  loss_and_gradients(model, whole, test);
  const NamedValues expected = gradients_of(parameters);
  for (Parameter* parameter : parameters) parameter->clear_gradient();

  WeightGradients weights;
  for (std::int64_t half = 0; half < 2; ++half) {
    GlobalBatch part = whole;
    part.sequences = 2;
    for (auto* values : {&part.tokens_BT, &part.targets_BT, &part.positions_BT}) {
      values->erase(values->begin(), values->begin() + half * 2 * kSmall.T);
      values->resize(static_cast<std::size_t>(2 * kSmall.T));
    }
    part.weights_BT.erase(part.weights_BT.begin(), part.weights_BT.begin() + half * 2 * kSmall.T);
    part.weights_BT.resize(static_cast<std::size_t>(2 * kSmall.T));
    const Batch on_device = to_device(part, test.device(), test.dtype);
    SavedTensors saved;
    model.forward(on_device, saved);
    model.backward(1 / whole.valid_tokens(), saved, weights);  // the global count, not the half's
  }
  CHECK(gradient_difference(gradients_of(parameters), expected, 1e-12) == "");
}
