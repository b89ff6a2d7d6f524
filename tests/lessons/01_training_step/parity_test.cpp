// The whole training step against PyTorch's: logits, losses, every gradient, weights after three
// steps of SGD and of AdamW (tests/reference/parity.py makes the vectors).
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/lessons/01_training_step/support.h"
#include "tests/support/catch.h"

using namespace shardlings;
using namespace shardlings::lesson01;
using nlohmann::json;

namespace {

const json& reference() {
  static const json parsed = json::parse(std::ifstream(SHARDLINGS_PARITY_JSON));
  return parsed;
}

ModelSize reference_size() {
  const json& c = reference()["config"];
  return {.L = c["L"], .D = c["D"], .H = c["H"], .T = c["T"], .V = c["V"]};
}

GlobalBatch reference_batch(std::int64_t step) {
  const json& from = reference()["batches"]["step_" + std::to_string(step)];
  GlobalBatch batch;
  batch.sequences = reference()["config"]["B"];
  batch.T = reference()["config"]["T"];
  from["tokens_BT"].get_to(batch.tokens_BT);
  from["targets_BT"].get_to(batch.targets_BT);
  from["weights_BT"].get_to(batch.weights_BT);
  for (std::int64_t i = 0; i < batch.sequences * batch.T; ++i)
    batch.positions_BT.push_back(static_cast<std::int32_t>(i % batch.T));
  return batch;
}

void take_reference_weights(const Parameters& parameters) {
  for (const Parameter* parameter : parameters)
    parameter->value.from_doubles(
        reference()["initial"][parameter->name].get<std::vector<double>>());
}

// Three steps from the reference's weights, with `update` between the gradients and the next step.
void compare_training(const TestDevice& test, double tolerance, const json& expected,
                      const std::function<void(const Parameters&)>& update,
                      std::string_view without = "nothing") {
  Gpt model(test.device(), test.dtype, reference_size(), 1);
  const Parameters parameters = model.parameters();
  take_reference_weights(parameters);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const auto index = static_cast<std::size_t>(step - 1);
    const double loss = loss_and_gradients(model, reference_batch(step), test);
    CHECK(loss == Approx(expected["losses"][index].get<double>()).epsilon(tolerance));
    CHECK(gradient_norm(parameters) ==
          Approx(expected["gradient_norms"][index].get<double>()).epsilon(tolerance));
    if (step == 1)
      CHECK(gradient_difference(gradients_of(parameters),
                                reference()["gradients_step_1"].get<NamedValues>(),
                                tolerance) == "");
    update(parameters);
    for (Parameter* parameter : parameters) parameter->clear_gradient();
  }
  auto weights = expected["weights"].get<NamedValues>();
  std::erase_if(weights,
                [&](const auto& named) { return named.first.find(without) != std::string::npos; });
  CHECK(weight_difference(weights_of(parameters), weights, tolerance, expected["learning_rate"]) ==
        "");
}

}  // namespace

TEST_CASE("three steps of SGD equal PyTorch's") {
  const auto [dtype, tolerance] =
      GENERATE(table<DType, double>({{DType::f64, 1e-10}, {DType::f32, 1e-5}}));
  const TestDevice test("cpu", dtype);
  const json& expected = reference()["sgd"];
  compare_training(test, tolerance, expected, [&](const Parameters& parameters) {
    for (const Parameter* parameter : parameters)
      add_scaled(parameter->value, parameter->gradient, -expected["learning_rate"].get<double>());
  });
}

TEST_CASE("three steps of AdamW with clipping equal PyTorch's") {
  const auto [dtype, tolerance] =
      GENERATE(table<DType, double>({{DType::f64, 1e-10}, {DType::f32, 1e-5}}));
  const TestDevice test("cpu", dtype);
  const json& expected = reference()["adamw"];
  std::unique_ptr<Optimizer> optimizer;
  const auto update = [&](const Parameters& parameters) {
    if (!optimizer) optimizer = std::make_unique<Optimizer>(parameters, expected["weight_decay"]);
    clip_gradients(parameters, expected["max_norm"]);
    optimizer->step(expected["learning_rate"]);
  };
  // The key bias has a true gradient of zero; AdamW turns its rounding noise into whole steps.
  compare_training(test, tolerance, expected, update, "c_attn.bias");
}

TEST_CASE("logits equal PyTorch's") {
  const TestDevice test("cpu", DType::f64);
  Gpt model(test.device(), test.dtype, reference_size(), 1);
  take_reference_weights(model.parameters());
  const GlobalBatch batch = reference_batch(1);
  const auto all = reference()["logits_step_1"].get<std::vector<double>>();
  const std::int64_t T = batch.T, V = reference_size().V;
  for (std::int64_t t = 1; t <= T; ++t) {  // every prefix of the last sequence
    const auto first = batch.tokens_BT.end() - T;
    const auto row = all.begin() + ((batch.sequences - 1) * T + t - 1) * V;
    const NamedValues expected{{"logits", {row, row + V}}};
    const NamedValues got{{"logits", model.next_token_logits({first, first + t})}};
    CHECK(difference(got, expected, 1e-10, 0) == "");
  }
}
